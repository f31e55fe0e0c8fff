import type { Folder } from "@/api/types";
import type { NewBuild } from "@/queries/environment-builds";
import { commandLine } from "@/ui/command";

export const RECIPES = [
  "requirements.txt",
  "environment.yml",
  "Dockerfile",
  "pyproject.toml",
  "devcontainer.json",
  "apt.txt",
] as const;

export const EMPTY_BUILD = {
  name: "",
  version: "",
  note: "",
  project: "",
  from: "recipe" as "recipe" | "git" | "folder",
  recipe: "requirements.txt" as (typeof RECIPES)[number],
  text: "",
  /** The files that `text` and `lock` were read from. */
  textFile: null as File | null,
  lock: "",
  lockFile: null as File | null,
  url: "",
  ref: "",
  folder: "",
  path: "",
  /** The recipe in a repository or folder; "": by convention. */
  file: "",
  credentials: "" as "" | "token" | "key",
  secret: "",
  base: "",
};
export type BuildValues = typeof EMPTY_BUILD;

/** True if the image below is not named by the recipe itself. */
export const hasBase = ({ from, recipe }: BuildValues): boolean =>
  from !== "recipe" || (recipe !== "Dockerfile" && recipe !== "devcontainer.json");

/** The request for a build. */
export function newBuild(values: BuildValues): NewBuild {
  const { name, version, note, project, base } = values;
  return {
    name,
    note,
    ...contextOf(values),
    ...(version && { version }),
    ...(project && { project }),
    ...(base && hasBase(values) && { base }),
  };
}

function contextOf(values: BuildValues): Partial<NewBuild> {
  const { from, recipe, text, lock, ref, folder, path, credentials, secret, file } = values;
  const chosen = file && { file };
  const url = values.url.trim();
  if (from === "git")
    return {
      git: { url, ref: ref.trim(), path: slashless(path), ...(credentials && { [credentials]: secret }) },
      ...chosen,
    };
  if (from === "folder") return { folder: { folder, path: slashless(path) }, ...chosen };
  return {
    files: { [recipe]: text, ...(recipe === "pyproject.toml" && lock && { "uv.lock": lock }) },
    ...(recipe === "apt.txt" ? {} : { file: recipe }),
  };
}

const slashless = (path: string) => path.trim().replace(/^\/+|\/+$/g, "");

/** The same build on the command line. */
export function buildCommand(
  values: BuildValues,
  folders: readonly Folder[],
  projects: readonly { id: string; name: string }[],
): string {
  const { name, version, note, project, base } = values;
  return commandLine(
    ...["carrel", "environment", "build", `${name || "NAME"}${version && `:${version}`}`],
    ...sourceOptions(values, folders),
    ...(base && hasBase(values) ? ["--base", base] : []),
    ...(note ? ["--note", note] : []),
    ...(project ? ["--project", projects.find((one) => one.id === project)?.name ?? project] : []),
  );
}

function sourceOptions(values: BuildValues, folders: readonly Folder[]): string[] {
  const { from, recipe, url, ref, folder, path, credentials, file } = values;
  const chosen = file ? ["-f", file] : [];
  const inside = slashless(path);
  if (from === "recipe") return recipe === "apt.txt" ? ["."] : ["-f", recipe];
  if (from === "folder") {
    const name = folders.find(({ id }) => id === folder)?.name ?? "FOLDER";
    return ["--folder", inside ? `${name}:${inside}` : name, ...chosen];
  }
  return [
    ...["--git", url.trim() || "URL"],
    ...(ref.trim() ? ["--ref", ref.trim()] : []),
    ...(inside ? ["--path", inside] : []),
    ...(credentials === "token" ? ["--token-file", "token.txt"] : []),
    ...(credentials === "key" ? ["--key-file", "key"] : []),
    ...chosen,
  ];
}
