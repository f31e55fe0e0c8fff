import type { StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { extensionOf } from "./paths";

type Language = (name: string) => Promise<Extension>;

const stream =
  <Mode>(load: () => Promise<Mode>, parser: (mode: Mode) => StreamParser<unknown>): Language =>
  async () => {
    const { StreamLanguage } = await import("@codemirror/language");
    return StreamLanguage.define(parser(await load()));
  };

const script: Language = async (name) =>
  (await import("@codemirror/lang-javascript")).javascript({
    jsx: /x$/.test(name),
    typescript: /\.tsx?$/.test(name),
  });
const clike = () => import("@codemirror/legacy-modes/mode/clike");
const c = stream(clike, (mode) => mode.c);
const cpp = stream(clike, (mode) => mode.cpp);
const json: Language = async () => (await import("@codemirror/lang-json")).json();
const markdown: Language = async () => (await import("@codemirror/lang-markdown")).markdown();
const yaml: Language = async () => (await import("@codemirror/lang-yaml")).yaml();
const shell = stream(
  () => import("@codemirror/legacy-modes/mode/shell"),
  (mode) => mode.shell,
);
const properties = stream(
  () => import("@codemirror/legacy-modes/mode/properties"),
  (mode) => mode.properties,
);
const xml = () => import("@codemirror/legacy-modes/mode/xml");

const LANGUAGES: Record<string, Language> = {
  py: async () => (await import("@codemirror/lang-python")).python(),
  js: script,
  jsx: script,
  ts: script,
  tsx: script,
  json,
  ipynb: json,
  md: markdown,
  markdown,
  yaml,
  yml: yaml,
  sh: shell,
  bash: shell,
  env: shell,
  toml: stream(
    () => import("@codemirror/legacy-modes/mode/toml"),
    (mode) => mode.toml,
  ),
  ini: properties,
  cfg: properties,
  conf: properties,
  properties,
  r: stream(
    () => import("@codemirror/legacy-modes/mode/r"),
    (mode) => mode.r,
  ),
  jl: stream(
    () => import("@codemirror/legacy-modes/mode/julia"),
    (mode) => mode.julia,
  ),
  c,
  h: c,
  cc: cpp,
  cpp,
  hpp: cpp,
  cu: cpp,
  java: stream(clike, (mode) => mode.java),
  go: stream(
    () => import("@codemirror/legacy-modes/mode/go"),
    (mode) => mode.go,
  ),
  rs: stream(
    () => import("@codemirror/legacy-modes/mode/rust"),
    (mode) => mode.rust,
  ),
  sql: stream(
    () => import("@codemirror/legacy-modes/mode/sql"),
    (mode) => mode.standardSQL,
  ),
  css: stream(
    () => import("@codemirror/legacy-modes/mode/css"),
    (mode) => mode.css,
  ),
  html: stream(xml, (mode) => mode.html),
  xml: stream(xml, (mode) => mode.xml),
};
const container = stream(
  () => import("@codemirror/legacy-modes/mode/dockerfile"),
  (mode) => mode.dockerFile,
);

function loaderOf(name: string): Language | undefined {
  if (name === "Dockerfile") return container;
  const extension = extensionOf(name);
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension] : undefined;
}

/** Whether a language is known for the file name. */
export const isSource = (name: string): boolean => loaderOf(name) !== undefined;

/** The syntax highlighting for a file name; downloaded on first use. */
export const languageOf = async (name: string): Promise<Extension> => (await loaderOf(name)?.(name)) ?? [];
