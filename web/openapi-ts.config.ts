import { defineConfig } from "@hey-api/openapi-ts";

export default defineConfig({
  input: process.env.CARREL_OPENAPI ?? "../openapi.json",
  output: { path: "src/api/generated", clean: true },
  plugins: [
    { name: "@hey-api/client-fetch", throwOnError: true },
    { name: "@hey-api/typescript", enums: false },
    // The page's credential is its cookie, which the browser sends: nothing to choose per request.
    { name: "@hey-api/sdk", auth: false },
  ],
});
