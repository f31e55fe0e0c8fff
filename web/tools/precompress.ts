/** Writes a .br and a .gz file beside each text file of the build; the server sends whichever a browser takes. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin, ResolvedConfig } from "vite";

const TEXT = /\.(css|html|js|json|mjs|svg|txt|wasm)$/;
/** Below this, the headers weigh as much as what is saved. */
const LEAST_BYTES = 1024;

export function precompress(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "precompress",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle() {
      const root = resolve(config.root, config.build.outDir);
      for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
        const path = join(root, name);
        if (!TEXT.test(name) || statSync(path).size < LEAST_BYTES) {
          continue;
        }
        const content = readFileSync(path);
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        };
        writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
