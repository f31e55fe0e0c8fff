import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

interface Manifest {
  name?: string;
  version?: string;
  license?: string | { type: string };
}

/** Writes packages.json: name, version and licence of each package of which code or styles are in the page. */
export function packages(): Plugin {
  return {
    name: "carrel-packages",
    apply: "build",
    generateBundle() {
      const found = new Map<string, { name: string; version: string; licence: string }>();
      for (const id of this.getModuleIds()) {
        const manifest = manifestOf(id);
        if (!manifest?.name || !manifest.version) continue;
        const licence = typeof manifest.license === "object" ? manifest.license.type : manifest.license;
        const { name, version } = manifest;
        found.set(`${name}@${version}`, { name, version, licence: licence ?? "" });
      }
      const rows = [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
      this.emitFile({ type: "asset", fileName: "packages.json", source: JSON.stringify(rows) });
    },
  };
}

const known = new Map<string, Manifest | null>();

/** The manifest of the package that a module in node_modules belongs to. */
function manifestOf(module: string): Manifest | null {
  const root = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module.replace(/^\0/, ""))?.[0];
  if (!root) return null;
  const cached = known.get(root);
  if (cached !== undefined) return cached;
  let manifest: Manifest | null = null;
  try {
    manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  } catch {
    // A virtual module.
  }
  known.set(root, manifest);
  return manifest;
}
