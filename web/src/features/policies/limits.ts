import type { Policy, PolicyKind, Rights } from "@/api/types";
import { cliTime } from "@/features/sessions/launcher/command";
import type { SlotLimit } from "@/ui/form/SlotLimitsInput";
import { cliSize } from "@/ui/format";
import { inSlotOrder, slotWord } from "@/ui/slots";

export const UNLIMITED = "unlimited";
/** A number in the base unit, or unlimited. */
export type Most = number | typeof UNLIMITED;
export const isRights = (value: unknown): value is Rights => value === "plain" || value === "root";
type SlotMosts = Readonly<Record<string, Most>>;

/**
 * A session is idle if its usage stays below each of these percentages for the window, after a grace period.
 */
export type IdleUseLimit = { window_s: number; grace_s: number; below: Readonly<Record<string, number>> };

/** The type of a limit, which determines its input. */
export type Measure = "slots" | "count" | "duration" | "use" | "bytes" | "priority" | "names" | "rights";

/** The limits of each policy kind, in display order. */
export const LIMITS = {
  keypair: [
    ["slots", "slots"],
    ["sessions", "count"],
    ["pending_slots", "slots"],
    ["pending_sessions", "count"],
    ["containers_per_session", "count"],
    ["lifetime_s", "duration"],
    ["idle_timeout_s", "duration"],
    ["idle_use", "use"],
    ["max_priority", "priority"],
    ["storage_hosts", "names"],
    ["log_bytes", "bytes"],
    ["max_rights", "rights"],
    ["default_disk_bytes", "bytes"],
    ["max_disk_bytes", "bytes"],
  ],
  user: [
    ["slots", "slots"],
    ["sessions", "count"],
    ["folders", "count"],
    ["folder_bytes", "bytes"],
    ["environment_bytes", "bytes"],
  ],
  project: [
    ["folders", "count"],
    ["folder_bytes", "bytes"],
    ["environment_bytes", "bytes"],
    ["max_rights", "rights"],
  ],
} as const satisfies Record<PolicyKind, readonly (readonly [string, Measure])[]>;

export type LimitName = (typeof LIMITS)[PolicyKind][number][0];

/** The limits of a policy kind. */
export const limitsOf = (kind: PolicyKind): readonly (readonly [LimitName, Measure])[] => LIMITS[kind];

/** All limits of a policy by name. */
export type Limits = Readonly<
  Partial<Record<LimitName, Most | SlotMosts | IdleUseLimit | string[] | Rights>>
>;

/** others: the default for slots without a row; null: they are not allowed. */
export type SlotsDraft = { rows: SlotLimit[]; others: Most | null };

/** Form values of the limits. */
export type LimitsDraft = Partial<Record<LimitName, Most | SlotsDraft | IdleUseLimit | string[] | Rights>>;

const USUAL = ["cpu", "mem"];

export function slotsDraft(slots: SlotMosts): SlotsDraft {
  const { "*": others = null, ...named } = slots;
  const rest = inSlotOrder(Object.keys(named)).filter((slot) => !USUAL.includes(slot));
  const rows = [...USUAL, ...rest].map((slot) => {
    const most = named[slot] ?? others ?? 0;
    return { slot, amount: most === UNLIMITED ? null : most };
  });
  return { rows, others };
}

/** The slot limits of a draft; unlimited standard slots are omitted if the default is unlimited too. */
export function slotLimitsOf({ rows, others }: SlotsDraft): Record<string, Most> {
  const needless = ({ slot, amount }: SlotLimit) =>
    amount === null && others === UNLIMITED && USUAL.includes(slot);
  return {
    ...Object.fromEntries(
      rows.filter((row) => !needless(row)).map(({ slot, amount }) => [slot, amount ?? UNLIMITED]),
    ),
    ...(others === null ? {} : { "*": others }),
  };
}

const isDraft = (value: LimitsDraft[LimitName] | Limits[LimitName]): value is SlotsDraft =>
  typeof value === "object" && "rows" in value;

export const isUse = (value: LimitsDraft[LimitName] | Limits[LimitName]): value is IdleUseLimit =>
  typeof value === "object" && "below" in value && typeof value.below === "object";

/** Of a new policy; other limits are unlimited. */
const DEFAULTS: LimitsDraft = {
  max_priority: 50,
  log_bytes: 64 * 2 ** 20,
  default_disk_bytes: 20 * 2 ** 30,
};

/** Initial form values: the limits of a policy, or none. */
export function draftOf(kind: PolicyKind, limits: Limits | undefined): LimitsDraft {
  return Object.fromEntries(
    limitsOf(kind).map(([name, measure]) => {
      const most = limits?.[name];
      if (measure === "slots") return [name, slotsDraft((most as SlotMosts) ?? { "*": UNLIMITED })];
      // Keypair policies have to allow root; projects only restrict it.
      if (measure === "rights") return [name, (most as Rights) ?? (kind === "keypair" ? "plain" : "root")];
      return [name, (most as Most | IdleUseLimit | string[]) ?? DEFAULTS[name] ?? UNLIMITED];
    }),
  );
}

/** All limits of a draft. */
export const limitsIn = (draft: LimitsDraft): Limits =>
  Object.fromEntries(
    Object.entries(draft).map(([name, most]) => [name, isDraft(most) ? slotLimitsOf(most) : most]),
  );

/** The limits of a draft that differ from the initial ones. */
export function changedLimits(first: LimitsDraft, now: LimitsDraft): Limits {
  const [before, after] = [limitsIn(first), limitsIn(now)];
  const plain = (most: Limits[LimitName]) =>
    JSON.stringify(typeof most === "object" ? Object.entries(most).sort() : most);
  return Object.fromEntries(
    Object.entries(after).filter(([name, most]) => plain(most) !== plain(before[name as LimitName])),
  );
}

/**
 * Whether a draft is valid: each row has a slot, no slot occurs twice, and the idle check has a threshold.
 */
export function isDraftComplete(draft: LimitsDraft): boolean {
  if (Object.values(draft).some((value) => isUse(value) && Object.keys(value.below).length === 0))
    return false;
  return Object.values(draft)
    .filter(isDraft)
    .every(({ rows }) => {
      const slots = rows.map(({ slot }) => slot);
      return !slots.includes("") && new Set(slots).size === slots.length;
    });
}

/** Whether the `field` of a server error ("limits.lifetime_s") is this limit. */
export const isAbout = (field: string | null | undefined, limit: LimitName): boolean =>
  field?.split(".").includes(limit) ?? false;

const OPTIONS: Record<LimitName, string> = {
  slots: "--slot",
  sessions: "--sessions",
  pending_slots: "--pending-slot",
  pending_sessions: "--pending-sessions",
  containers_per_session: "--containers",
  lifetime_s: "--lifetime",
  idle_timeout_s: "--idle-timeout",
  idle_use: "--idle-use",
  max_priority: "--max-priority",
  storage_hosts: "--storage-host",
  max_rights: "--max-rights",
  default_disk_bytes: "--default-disk",
  max_disk_bytes: "--max-disk",
  folders: "--folders",
  folder_bytes: "--folder-size",
  environment_bytes: "--environment-size",
  log_bytes: "--log-size",
};

/** The CLI options for these limits. */
export function limitWords(limits: Limits): string[] {
  return Object.entries(limits).flatMap(([key, most]) => {
    const name = key as LimitName;
    if (Array.isArray(most)) return (most.length > 0 ? most : [""]).flatMap((host) => [OPTIONS[name], host]);
    if (isUse(most)) return [OPTIONS[name], idleUseWord(most)];
    if (typeof most === "object") {
      return Object.entries(most as SlotMosts).flatMap(([slot, amount]) => [
        OPTIONS[name],
        amount === UNLIMITED ? `${slot}=${UNLIMITED}` : slotWord(slot, amount),
      ]);
    }
    if (most === UNLIMITED || isRights(most)) return [OPTIONS[name], most];
    const amount = Number(most);
    const value =
      name === "lifetime_s" || name === "idle_timeout_s"
        ? cliTime(amount)
        : name.endsWith("_bytes")
          ? cliSize(amount)
          : String(amount);
    return [OPTIONS[name], value];
  });
}

const idleUseWord = ({ below, window_s, grace_s }: IdleUseLimit): string =>
  [
    ...Object.entries(below).map(([measure, percent]) => `${measure}=${percent}`),
    `window=${cliTime(window_s)}`,
    `grace=${cliTime(grace_s)}`,
  ].join(",");

/** The limits of a policy of any kind. */
export const limitsFor = (policy: Policy): Limits => policy.limits as Limits;
