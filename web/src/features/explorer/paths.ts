/** Paths are relative to the folder, separated by /; "" is the folder itself. */
export const join = (directory: string, name: string): string => (directory ? `${directory}/${name}` : name);

/** The parent directory. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** "csv" of "A.CSV"; "" of ".profile" and of "README". */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

/** The path's ancestors and the path itself, from the top, each with its full path. */
export function stepsTo(path: string): { name: string; path: string }[] {
  const names = path === "" ? [] : path.split("/");
  return names.map((name, at) => ({ name, path: names.slice(0, at + 1).join("/") }));
}

/** Whether the path is the directory or inside it. */
export const isWithin = (path: string, directory: string): boolean =>
  directory === "" || path === directory || path.startsWith(`${directory}/`);

/** Resolves a path relative to a directory ("../a.png"); null if it leaves the folder. */
export function resolvePath(directory: string, written: string): string | null {
  const parts = written.startsWith("/") || directory === "" ? [] : directory.split("/");
  for (const part of written.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join("/");
}

/** Resolves an encoded path, as in Markdown; null also if it cannot be decoded. */
export function resolveAddress(directory: string, address: string): string | null {
  try {
    return resolvePath(directory, decodeURIComponent(address));
  } catch {
    return null;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are matched on purpose
const UNSEEN = /[\u0000-\u001f\u007f]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name made safe to display: control characters and bidirectional overrides become visible. */
export const shownName = (name: string): string =>
  name.replace(UNSEEN, (one) => {
    const code = one.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : "\u2426";
  });

/** Why a file name is invalid; null if it is valid. */
export function nameFault(name: string): "empty" | "slash" | "dots" | "long" | null {
  if (name === "") return "empty";
  if (name.includes("/") || name.includes("\0")) return "slash";
  if (name === "." || name === "..") return "dots";
  return new TextEncoder().encode(name).length > 255 ? "long" : null;
}

/** Name of a copy in the same directory: "a (copy).txt", "a (copy 2).txt". */
export function copyName(name: string, number = 1): string {
  const extension = extensionOf(name);
  const stem = extension ? name.slice(0, -extension.length - 1) : name;
  const mark = number === 1 ? "copy" : `copy ${number}`;
  return `${stem} (${mark})${name.slice(stem.length)}`;
}
