/** The launcher's form as a link holds it: what differs from the initial values. Variables are not shared. */
export interface LaunchLink {
  image?: string;
  name?: string;
  description?: string;
  kind?: "interactive" | "batch";
  script?: string;
  array?: string;
  containers?: number;
  placement?: "together" | "spread";
  topology?: string;
  on_failure?: "end" | "continue";
  roles?: LinkedRole[];
  start_at?: string;
  retries?: number;
  project?: string;
  group?: string;
  alternative_groups?: string[];
  node?: string;
  rights?: "plain" | "root";
  priority?: number | null;
  time_limit_s?: number | null;
  bootstrap?: string;
  shm_bytes?: number | null;
  disk_bytes?: number | null;
  workdir?: string;
  timezone?: string;
  locale?: string;
  stop_signal?: (typeof SIGNALS)[number] | null;
  grace_s?: number | null;
  slots?: Record<string, number>;
  mounts?: LinkedMount[];
  after?: LinkedDependency[];
  on_dependency_failure?: "cancel" | "wait";
}

interface LinkedDependency {
  session: string;
  array: boolean;
  name: string;
  condition: (typeof CONDITIONS)[number];
}

interface LinkedRole {
  name: string;
  count?: number;
  image?: string | null;
  command?: string[];
  slots?: { cpu: number; mem: number; [slot: string]: number } | null;
  shm_bytes?: number | null;
}

interface LinkedMount {
  folder: string;
  name: string;
  path?: string;
  subpath?: string;
  readOnly?: boolean;
}

const TEXTS = [
  "image",
  "name",
  "description",
  "script",
  "array",
  "start_at",
  "project",
  "group",
  "node",
  "topology",
  "bootstrap",
  "workdir",
  "timezone",
  "locale",
] as const;
const NUMBERS = ["priority", "time_limit_s", "shm_bytes", "disk_bytes", "grace_s"] as const;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const CONDITIONS = ["succeeded", "failed", "ended"] as const;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isAmount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The valid part of a link's parameter; undefined if there is none. */
export function launchLink(raw: unknown): LaunchLink | undefined {
  if (!isRecord(raw)) return undefined;
  const link: LaunchLink = {};
  for (const field of TEXTS) {
    const value = raw[field];
    if (typeof value === "string") link[field] = value;
  }
  if (isAmount(raw.retries)) link.retries = raw.retries;
  if (isAmount(raw.containers)) link.containers = raw.containers;
  if (raw.placement === "together" || raw.placement === "spread") link.placement = raw.placement;
  if (raw.on_failure === "end" || raw.on_failure === "continue") link.on_failure = raw.on_failure;
  if (raw.stop_signal === null) link.stop_signal = null;
  const signal = SIGNALS.find((one) => one === raw.stop_signal);
  if (signal) link.stop_signal = signal;
  if (raw.kind === "interactive" || raw.kind === "batch") link.kind = raw.kind;
  if (raw.rights === "plain" || raw.rights === "root") link.rights = raw.rights;
  for (const field of NUMBERS) {
    const value = raw[field];
    if (value === null || isAmount(value)) link[field] = value;
  }
  if (isRecord(raw.slots)) {
    link.slots = amountsOf(raw.slots);
  }
  if (Array.isArray(raw.alternative_groups)) link.alternative_groups = raw.alternative_groups.map(text);
  if (Array.isArray(raw.roles)) link.roles = raw.roles.filter(isRecord).map(linkedRole);
  if (Array.isArray(raw.mounts)) {
    link.mounts = raw.mounts.filter(isRecord).map((mount) => ({
      folder: text(mount.folder),
      name: text(mount.name),
      path: text(mount.path),
      subpath: text(mount.subpath),
      readOnly: mount.readOnly === true,
    }));
  }
  if (Array.isArray(raw.after)) {
    link.after = raw.after.filter(isRecord).map((one) => ({
      session: text(one.session),
      array: one.array === true,
      name: text(one.name),
      condition: CONDITIONS.find((known) => known === one.condition) ?? "succeeded",
    }));
  }
  if (raw.on_dependency_failure === "wait" || raw.on_dependency_failure === "cancel")
    link.on_dependency_failure = raw.on_dependency_failure;
  return Object.keys(link).length > 0 ? link : undefined;
}

const amountsOf = (raw: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(Object.entries(raw).filter((one): one is [string, number] => isAmount(one[1])));

function linkedRole(raw: Record<string, unknown>): LinkedRole {
  const { name, count, image, command, slots, shm_bytes } = raw;
  const amounts = isRecord(slots) ? amountsOf(slots) : {};
  const { cpu, mem } = amounts;
  return {
    name: text(name),
    ...(isAmount(count) ? { count } : {}),
    ...(typeof image === "string" ? { image } : {}),
    ...(isAmount(shm_bytes) ? { shm_bytes } : {}),
    ...(Array.isArray(command) ? { command: command.map(text) } : {}),
    ...(cpu !== undefined && mem !== undefined ? { slots: { ...amounts, cpu, mem } } : {}),
  };
}
