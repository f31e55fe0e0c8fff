import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateMessageId } from "@lingui/message-utils/generateMessageId";
import type { Plugin } from "vite";

const WEB = fileURLToPath(new URL("..", import.meta.url));
const ENTRY = "src/main.tsx";
const SOURCE = "src/i18n/locales/en.po";
const IMPORT = /^(?:import|export)\s(?!type\s)(?:[^;]*?\sfrom\s+)?"([^"]+)"/gm;
const PART = /\.po\?(first|rest)\.po$/;
const COMPILED = /JSON\.parse\((".*")\)/s;
const MESSAGE_ID = /["'`]([\w+/]{6})["'`]/g;

/**
 * Makes two modules of each catalogue: `ko.po?first.po` has the messages of the first download, `ko.po?rest.po` those
 * that only code which is loaded later has. Comes after Lingui's plugin, which compiles the catalogue.
 */
export function catalogueParts(): Plugin {
  let first: ReadonlySet<string> | null = null;
  return {
    name: "carrel:catalogue-parts",
    transform(code, id) {
      const part = PART.exec(id)?.[1];
      if (!part) return null;
      first ??= messagesOf(staticImports(ENTRY));
      const messages = Object.entries(compiled(code)).filter(
        ([key]) => first?.has(key) === (part === "first"),
      );
      const text = JSON.stringify(JSON.stringify(Object.fromEntries(messages)));
      return { code: `export const messages=JSON.parse(${text});`, map: null, moduleType: "js" };
    },
    generateBundle(_, bundle) {
      const rest = restOf(first ?? new Set());
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk" || !chunk.isEntry) continue;
        for (const name of [chunk.fileName, ...chunk.imports]) {
          const loaded = bundle[name];
          const ids =
            loaded?.type === "chunk" ? [...loaded.code.matchAll(MESSAGE_ID)].map((it) => it[1]) : [];
          const missing = ids.filter((it) => it && rest.has(it));
          if (missing.length > 0) this.error(`${name}: messages that the first download lacks: ${missing}`);
        }
      }
    },
  };
}

function compiled(code: string): Record<string, unknown> {
  const text = COMPILED.exec(code)?.[1];
  if (!text) throw new Error("Lingui compiles catalogues in another form.");
  return JSON.parse(JSON.parse(text) as string) as Record<string, unknown>;
}

/** The source files that are downloaded with this one, by their paths below web/. */
export function staticImports(entry: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [entry];
  for (let file = open.pop(); file; file = open.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, name = ""] of readFileSync(join(WEB, file), "utf8").matchAll(IMPORT)) {
      const target = fileOf(name, dirname(file));
      if (target) open.push(target);
    }
  }
  return found;
}

function fileOf(name: string, folder: string): string | null {
  const path = name.startsWith("@/")
    ? join("src", name.slice(2))
    : name.startsWith(".")
      ? join(folder, name)
      : null;
  const files = [".ts", ".tsx", "/index.ts", "/index.tsx"].map((end) => `${path}${end}`);
  return path ? (files.find((file) => existsSync(join(WEB, file))) ?? null) : null;
}

/** Ids of the messages in these files. */
function messagesOf(files: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(
    entries().flatMap(({ id, origins }) => (origins.some((file) => files.has(file)) ? [id] : [])),
  );
}

function restOf(first: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(entries().flatMap(({ id }) => (first.has(id) ? [] : [id])));
}

function entries(): { id: string; origins: string[] }[] {
  const texts = readFileSync(join(WEB, SOURCE), "utf8").split("\n\n").slice(1);
  return texts.map((text) => ({
    id: generateMessageId(field(text, "msgid"), field(text, "msgctxt")),
    origins: [...text.matchAll(/^#: (.*)$/gm)].flatMap(([, line = ""]) => line.split(" ")),
  }));
}

/** The text of a field, whose lines are quoted as in C. */
function field(entry: string, name: string): string {
  const lines = new RegExp(`^${name} ((?:".*"\\n?)+)`, "m").exec(entry)?.[1] ?? "";
  return [...lines.matchAll(/^"(.*)"$/gm)].map(([quoted]) => JSON.parse(quoted) as string).join("");
}
