import type { SessionCreate, Slots } from "@/api/types";
import { cliSize, formatCores } from "@/ui/format";

/** The word as a POSIX shell must be given it, quoted only where it needs to be. */
export function shellQuote(word: string): string {
  // A leading "=" is a command's path to zsh, and a leading "~" somebody's home.
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The line that asks for the same session on the command line. */
export function createCommand(request: Omit<SessionCreate, "slots"> & { slots: Slots }): string {
  const words = ["carrel", "session", "create"];
  words.push("--image", request.image || "starter");
  words.push("--cpu", formatCores(request.slots.cpu ?? 0), "--mem", cliSize(request.slots.mem ?? 0));
  if (request.name) words.push("--name", request.name);
  for (const [name, value] of Object.entries(request.env ?? {})) words.push("--env", `${name}=${value}`);
  if (request.project) words.push("--project", request.project);
  return words.map(shellQuote).join(" ");
}
