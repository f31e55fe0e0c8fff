import { fileURLToPath } from "node:url";
import { lingui } from "@lingui/vite-plugin";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { catalogueParts } from "./tools/catalogue-parts.ts";
import { linguiMacro } from "./tools/lingui-macro.ts";
import { mantineCss } from "./tools/mantine-css.ts";
import { packages } from "./tools/packages.ts";
import { precompress } from "./tools/precompress.ts";

const server = process.env.CARREL_URL ?? "http://127.0.0.1:8700";

export default defineConfig({
  plugins: [linguiMacro(), react(), lingui(), catalogueParts(), mantineCss(), packages(), precompress()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/carrel/web_dist",
    emptyOutDir: true,
    target: "es2022",
    // The page's policy forbids inline scripts and foreign origins, so nothing is inlined as a data address but fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Without this, whoever imports one call would bring all, since one module exports those of all nouns.
      treeshake: { moduleSideEffects: [{ test: /\/api\/generated\/sdk/, sideEffects: false }] },
      output: {
        codeSplitting: {
          // A request costs more than its bytes: one file for the first page, and one for what many others share.
          groups: [
            { name: "first", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 4 },
          ],
        },
      },
    },
  },
  server: {
    // The help pages are made from docs/.
    fs: { allow: [".."] },
    // The server checks Origin on cookies and WebSockets: keep the browser's Host header.
    proxy: { "/api": { target: server, ws: true, changeOrigin: false } },
  },
});
