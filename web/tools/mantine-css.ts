/**
 * Replaces Mantine's one stylesheet by its base and the styles of each component that a chunk really holds.
 *
 * A component's script imports its class names from `X.module.mjs`, whose rules are in `styles/X.css`. The development
 * server keeps the one stylesheet.
 */
import type { Plugin } from "vite";

const ALL = "@mantine/core/styles.css";
const BASE = ["baseline", "default-css-variables", "global"];
const BASE_ID = "\0mantine-base";
const CLASS_NAMES = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/;

export function mantineCss(): Plugin {
  return {
    name: "mantine-css",
    apply: "build",
    enforce: "pre",
    resolveId: (source) => (source === ALL ? BASE_ID : undefined),
    load: (id) => (id === BASE_ID ? BASE.map(importOf).join("") : undefined),
    transform(code, id) {
      const component = CLASS_NAMES.exec(id)?.[1];
      return component ? { code: importOf(component) + code, map: null } : undefined;
    },
  };
}

function importOf(name: string): string {
  return `import "@mantine/core/styles/${name}.css";\n`;
}
