import type { DependencyRequest, SessionCreate, Slots } from "@/api/types";
import { shellQuote } from "@/ui/command";
import { cliSize, formatCores } from "@/ui/format";
import { slotWord } from "@/ui/slots";
import { formatArray } from "./array";
import { dependencyWord } from "./dependencies";
import { mountWord } from "./mounts";

type ArrayRequest = NonNullable<SessionCreate["array"]>;

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

/** CLI spellings that differ from --FIELD VALUE. */
const SPELLINGS: { [Field in keyof SessionCreate]?: (value: never) => string[] } = {
  slots: ({ cpu = 0, mem = 0, ...others }: Slots) => [
    ...["--cpu", formatCores(cpu), "--mem", cliSize(mem)],
    ...Object.entries(others).flatMap(([slot, amount]) => (amount ? ["--slot", slotWord(slot, amount)] : [])),
  ],
  env: (env: Record<string, string>) =>
    Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  after: (after: DependencyRequest[]) => after.flatMap((one) => ["--after", dependencyWord(one)]),
  // The script is the standard input.
  bootstrap: () => ["--bootstrap", "-"],
  array: (array: ArrayRequest) => ["--array", formatArray(array)],
  shm_bytes: (bytes: number) => ["--shm", cliSize(bytes)],
  disk_bytes: (bytes: number) => ["--disk", cliSize(bytes)],
  stop_signal: (signal: string) => ["--stop-signal", signal.replace("SIG", "")],
  grace_s: (seconds: number) => ["--grace", cliTime(seconds)],
  time_limit_s: (seconds: number) => ["--time-limit", cliTime(seconds)],
  kind: () => [],
  containers: (count: number) => ["--cluster-size", String(count)],
  roles: () => [],
  // After --group: the order is the preference.
  alternative_groups: (names: string[]) => names.flatMap((name) => ["--group", name]),
  rights: (rights: string) => (rights === "root" ? ["--root"] : []),
};

/** The CLI command for the same session, whose roles need a file. folderName: the name of the folder with this id. */
export function createCommand(
  request: Omit<SessionCreate, "slots"> & { slots: Slots },
  folderName: (id: string) => string = (id) => id,
): string {
  const { image, slots, mounts = [], command = [], ...others } = request;
  const words = request.kind === "batch" ? ["carrel", "run", "--detach"] : ["carrel", "session", "create"];
  for (const [field, value] of Object.entries({ image, slots, ...others })) {
    if (value == null || value === "") continue;
    const spell = SPELLINGS[field as keyof SessionCreate];
    words.push(...(spell ? spell(value as never) : [`--${field.replaceAll("_", "-")}`, String(value)]));
  }
  for (const mount of mounts) words.push("--mount", mountWord(mount, folderName(mount.folder)));
  if (command.length > 0) words.push("--", ...command);
  const line = words.map(shellQuote).join(" ");
  return request.bootstrap ? `printf %s ${shellQuote(request.bootstrap)} | ${line}` : line;
}

/** The CLI command that reads the definition of a session from its standard input. */
export function fileCommand(request: Pick<SessionCreate, "kind">, text: string): string {
  const verb = request.kind === "batch" ? "carrel run --detach" : "carrel session create";
  return `${verb} -f - <<'END'\n${text.trimEnd()}\nEND`;
}
