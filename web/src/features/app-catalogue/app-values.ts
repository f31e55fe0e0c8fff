import type { AppOption, AppTemplate, AppTemplateCreate } from "@/api/types";
import type { AppSymbolName } from "@/ui/AppSymbol";

/** The inputs of an app template. owner: "person", "installation", or the id of a project. */
export type AppValues = {
  owner: string;
  name: string;
  title: string;
  icon: AppSymbolName;
  protocol: "http" | "tcp";
  port: number | string;
  command: string;
  env: string;
  ready: string;
  path: string;
  auth_header: string;
  requires: string;
  hint: string;
  enabled: boolean;
  options: AppOption[];
};

const NO_VALUES: AppValues = {
  owner: "person",
  name: "",
  title: "",
  icon: "app",
  protocol: "http",
  port: "",
  command: "",
  env: "",
  ready: "",
  path: "/",
  auth_header: "",
  requires: "",
  hint: "",
  enabled: true,
  options: [],
};

/** The inputs for an app template, or empty ones. */
export function appValuesOf(source: AppTemplate | undefined): AppValues {
  if (!source) return NO_VALUES;
  return {
    ...NO_VALUES,
    name: source.name,
    title: source.title,
    icon: source.icon ?? "app",
    protocol: source.protocol ?? "http",
    port: source.port,
    command: commandText(source.command ?? []),
    env: Object.entries(source.env ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join("\n"),
    ready: source.ready ?? "",
    path: source.path ?? "/",
    auth_header: source.auth_header ?? "",
    requires: source.requires ?? "",
    hint: source.hint ?? "",
    enabled: source.enabled,
    options: source.options ?? [],
  };
}

/** The fields of the request. */
export function definitionOf(
  values: AppValues,
): Omit<AppTemplateCreate, "name" | "project" | "installation"> {
  const { owner: _owner, name: _name, command, env, port, options, ...others } = values;
  const isHttp = values.protocol === "http";
  return {
    ...others,
    ...(isHttp ? {} : { ready: "", path: "/", auth_header: "" }),
    port: Number(port),
    command: argumentsOf(command) ?? [],
    env: Object.fromEntries(
      lines(env).map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
    ),
    options,
  };
}

export const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** One word on each line; a JSON list if a word is empty or has several lines itself. */
function commandText(words: string[]): string {
  return words.every((word) => word !== "" && !word.includes("\n"))
    ? words.join("\n")
    : JSON.stringify(words, null, 1);
}

/** The words of a command; null: a JSON list of anything else. */
export function argumentsOf(text: string): string[] | null {
  if (!text.trimStart().startsWith("[")) return lines(text);
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : null;
  } catch {
    return null;
  }
}
