import type { Policy, PolicyKind } from "@/api/types";
import { cliTime } from "@/launcher/command";
import type { SlotLimit } from "@/ui/form/SlotLimitsInput";
import { cliSize } from "@/ui/format";
import { inSlotOrder, slotWord } from "@/ui/slots";

export const UNLIMITED = "unlimited";
/** A number in the base unit, or that there is no limit. */
export type Most = number | typeof UNLIMITED;
type SlotMosts = Readonly<Record<string, Most>>;

/** What a limit is of, which says how it is written. */
export type Measure = "slots" | "count" | "duration" | "bytes" | "priority";

/** The limits of each kind of policy, in the order in which they are shown. */
export const LIMITS = {
  keypair: [
    ["slots", "slots"],
    ["sessions", "count"],
    ["pending_slots", "slots"],
    ["pending_sessions", "count"],
    ["containers_per_session", "count"],
    ["lifetime_s", "duration"],
    ["max_priority", "priority"],
  ],
  user: [
    ["slots", "slots"],
    ["sessions", "count"],
    ["folders", "count"],
    ["folder_bytes", "bytes"],
  ],
  project: [
    ["folders", "count"],
    ["folder_bytes", "bytes"],
  ],
} as const satisfies Record<PolicyKind, readonly (readonly [string, Measure])[]>;

export type LimitName = (typeof LIMITS)[PolicyKind][number][0];

/** The limits of a kind, whichever it is. */
export const limitsOf = (kind: PolicyKind): readonly (readonly [LimitName, Measure])[] => LIMITS[kind];

/** Every limit of a policy by its name. */
export type Limits = Readonly<Partial<Record<LimitName, Most | SlotMosts>>>;

/** others: what holds for the slots without a row; null: they cannot be used at all. */
export type SlotsDraft = { rows: SlotLimit[]; others: Most | null };

/** What the form about limits holds. */
export type LimitsDraft = Partial<Record<LimitName, Most | SlotsDraft>>;

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

/** The slots that a draft says; the usual ones are left out where they are as all others, without a limit. */
export function slotsOf({ rows, others }: SlotsDraft): Record<string, Most> {
  const needless = ({ slot, amount }: SlotLimit) =>
    amount === null && others === UNLIMITED && USUAL.includes(slot);
  return {
    ...Object.fromEntries(
      rows.filter((row) => !needless(row)).map(({ slot, amount }) => [slot, amount ?? UNLIMITED]),
    ),
    ...(others === null ? {} : { "*": others }),
  };
}

const isDraft = (value: Most | SlotsDraft | SlotMosts | undefined): value is SlotsDraft =>
  typeof value === "object" && "rows" in value;

/** What the form starts with: the limits that a policy has, or none. */
export function draftOf(kind: PolicyKind, limits: Limits | undefined): LimitsDraft {
  return Object.fromEntries(
    limitsOf(kind).map(([name, measure]) => {
      const most = limits?.[name];
      if (measure === "slots") return [name, slotsDraft((most as SlotMosts) ?? { "*": UNLIMITED })];
      return [name, most ?? (measure === "priority" ? 50 : UNLIMITED)];
    }),
  );
}

/** The limits that a draft says, all of them. */
export const limitsIn = (draft: LimitsDraft): Limits =>
  Object.fromEntries(
    Object.entries(draft).map(([name, most]) => [name, isDraft(most) ? slotsOf(most) : most]),
  );

/** Those limits of a draft that are other than at first. */
export function changedLimits(first: LimitsDraft, now: LimitsDraft): Limits {
  const [before, after] = [limitsIn(first), limitsIn(now)];
  const plain = (most: Most | SlotMosts | undefined) =>
    JSON.stringify(typeof most === "object" ? Object.entries(most).sort() : most);
  return Object.fromEntries(
    Object.entries(after).filter(([name, most]) => plain(most) !== plain(before[name as LimitName])),
  );
}

/** Whether a draft can be sent: every row names its slot, and no slot has two rows. */
export function isWhole(draft: LimitsDraft): boolean {
  return Object.values(draft)
    .filter(isDraft)
    .every(({ rows }) => {
      const slots = rows.map(({ slot }) => slot);
      return !slots.includes("") && new Set(slots).size === slots.length;
    });
}

const OPTIONS: Record<LimitName, string> = {
  slots: "--slot",
  sessions: "--sessions",
  pending_slots: "--pending-slot",
  pending_sessions: "--pending-sessions",
  containers_per_session: "--containers",
  lifetime_s: "--lifetime",
  max_priority: "--max-priority",
  folders: "--folders",
  folder_bytes: "--folder-size",
};

/** The options of the command line for these limits. */
export function limitWords(limits: Limits): string[] {
  return Object.entries(limits).flatMap(([key, most]) => {
    const name = key as LimitName;
    if (typeof most === "object") {
      return Object.entries(most as SlotMosts).flatMap(([slot, amount]) => [
        OPTIONS[name],
        amount === UNLIMITED ? `${slot}=${UNLIMITED}` : slotWord(slot, amount),
      ]);
    }
    if (most === UNLIMITED) return [OPTIONS[name], UNLIMITED];
    const amount = Number(most);
    const said =
      name === "lifetime_s" ? cliTime(amount) : name === "folder_bytes" ? cliSize(amount) : String(amount);
    return [OPTIONS[name], said];
  });
}

/** The limits of a policy, whatever its kind. */
export const limitsFor = (policy: Policy): Limits => policy.limits as Limits;
