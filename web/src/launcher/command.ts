import type { SessionCreate, Slots } from "@/api/types";
import { shellQuote } from "@/ui/command";
import { cliSize, formatCores } from "@/ui/format";
import { slotWord } from "@/ui/slots";
import { mountWord } from "./mounts";

const TIMES = [
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
] as const;

/** "3d", "12h", "90m" or "45s": the shortest exact spelling. */
export function cliTime(seconds: number): string {
  const [size, unit] = TIMES.find(([one]) => seconds % one === 0) ?? [1, "s"];
  return `${seconds / size}${unit}`;
}

/** The line that asks for the same session on the command line. folderName: what a folder of this id is called. */
export function createCommand(
  request: Omit<SessionCreate, "slots"> & { slots: Slots },
  folderName: (id: string) => string = (id) => id,
): string {
  const { cpu = 0, mem = 0, ...others } = request.slots;
  const words = ["carrel", "session", "create"];
  words.push("--image", request.image || "starter");
  words.push("--cpu", formatCores(cpu), "--mem", cliSize(mem));
  for (const [slot, amount] of Object.entries(others)) {
    if (amount) words.push("--slot", slotWord(slot, amount));
  }
  if (request.name) words.push("--name", request.name);
  for (const [name, value] of Object.entries(request.env ?? {})) words.push("--env", `${name}=${value}`);
  if (request.project) words.push("--project", request.project);
  if (request.group) words.push("--group", request.group);
  if (request.priority != null) words.push("--priority", String(request.priority));
  if (request.time_limit_s) words.push("--time-limit", cliTime(request.time_limit_s));
  if (request.node) words.push("--node", request.node);
  for (const mount of request.mounts ?? []) words.push("--mount", mountWord(mount, folderName(mount.folder)));
  return words.map(shellQuote).join(" ");
}
