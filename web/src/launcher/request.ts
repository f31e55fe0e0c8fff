import type { CheckRequest, SessionCreate, SessionDetail, SlotKind, SlotRequest, Slots } from "@/api/types";
import { type MountRow, mountFault, mountRow, toMount } from "./mounts";

export interface EnvironmentRow {
  /** Only for the page: keeps a row's fields together while rows come and go. */
  key: string;
  name: string;
  value: string;
}

/** The launcher's form. */
export type LaunchForm = {
  image: string;
  name: string;
  /** The name of a resource group; "" leaves it to the server. */
  group: string;
  slots: Record<string, number>;
  /** "" for the usual one. */
  priority: number | "";
  /** How many seconds it may run; null for as long as the limits let it. */
  time_limit_s: number | null;
  /** The name of the only node to run on; "" for any. */
  node: string;
  env: EnvironmentRow[];
  mounts: MountRow[];
};

const GIB = 2 ** 30;

/** The form of somebody who has not chosen anything yet. */
export const freshForm = (image: string): LaunchForm => ({
  image,
  name: "",
  group: "",
  slots: { cpu: 1000, mem: GIB },
  priority: "",
  time_limit_s: null,
  node: "",
  env: [],
  mounts: [],
});

export const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$/;
const VARIABLE_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;

let rows = 0;
export const environmentRow = (name = "", value = ""): EnvironmentRow => ({
  key: `row-${++rows}`,
  name,
  value,
});

export function isName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

export type VariableFault = "malformed" | "repeated" | null;

/** What is wrong with the name in one row; rows with neither name nor value do not count. */
export function variableFault(env: EnvironmentRow[], index: number): VariableFault {
  const row = env[index];
  if (!row || (row.name === "" && row.value === "")) return null;
  if (!VARIABLE_PATTERN.test(row.name)) return "malformed";
  return env.some((other, at) => at < index && other.name === row.name) ? "repeated" : null;
}

/** What the scheduler looks at. */
function toWish(form: LaunchForm, project: string | undefined): Omit<CheckRequest, "image"> {
  return {
    // What is missing here is refused by the server, which names the field.
    slots: Object.fromEntries(Object.entries(form.slots).filter(([, amount]) => amount > 0)) as SlotRequest,
    ...(form.group ? { group: form.group } : {}),
    ...(form.priority === "" ? {} : { priority: form.priority }),
    ...(form.time_limit_s === null ? {} : { time_limit_s: form.time_limit_s }),
    ...(form.node ? { node: form.node } : {}),
    ...(project ? { project } : {}),
  };
}

/** What is sent to the server. */
export function toRequest(form: LaunchForm, project: string | undefined): SessionCreate {
  const env = Object.fromEntries(
    form.env.filter((row) => row.name !== "").map((row) => [row.name, row.value]),
  );
  return {
    image: form.image.trim(),
    ...toWish(form, project),
    ...(form.name.trim() ? { name: form.name.trim() } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(form.mounts.length > 0 ? { mounts: form.mounts.map(toMount) } : {}),
  };
}

/** The question what would happen to it. */
export function toCheck(form: LaunchForm, project: string | undefined): CheckRequest {
  // A row that is still being written is no question to the server; the form says itself what is wrong with it.
  const mounts = form.mounts.filter((_, at) => mountFault(form.mounts, at) === null);
  return {
    ...toWish(form, project),
    ...(form.image.trim() ? { image: form.image.trim() } : {}),
    ...(mounts.length > 0 ? { mounts: mounts.map(toMount) } : {}),
  };
}

/** What a session was asked for beside its slots, as far as it differs from what is usual. */
export function unusual(session: SessionDetail): Pick<SessionCreate, "group" | "priority" | "time_limit_s"> {
  const { group, priority, time_limit_s } = session;
  return {
    ...(group.id === DEFAULT_GROUP ? {} : { group: group.name }),
    ...(priority === USUAL_PRIORITY ? {} : { priority }),
    ...(time_limit_s === null ? {} : { time_limit_s }),
  };
}

/** The form that asks for a session like this one; its name is left out, since it may still be taken. */
export function formLike(session: SessionDetail): LaunchForm {
  const { group = "", priority, time_limit_s } = unusual(session);
  return {
    ...freshForm(session.image_name ?? session.image),
    group: group ?? "",
    time_limit_s: time_limit_s ?? null,
    slots: { ...session.slots },
    priority: priority ?? "",
    env: Object.entries(session.env ?? {}).map(([name, value]) => environmentRow(name, value)),
    mounts: session.mounts.filter(({ automatic, folder_id }) => !automatic && folder_id).map(mountRow),
  };
}

export const USUAL_PRIORITY = 50;
const DEFAULT_GROUP = "default";

/** The slots with another amount of one; slots that are taken from the same devices exclude each other. */
export function withSlot(
  slots: Slots,
  slot: string,
  amount: number,
  kinds: readonly Pick<SlotKind, "name" | "family">[],
): Record<string, number> {
  const familyOf = (name: string) => kinds.find((kind) => kind.name === name)?.family ?? null;
  const family = familyOf(slot);
  const others = Object.entries(slots).filter(
    ([other]) => other !== slot && !(amount > 0 && family !== null && familyOf(other) === family),
  );
  return { ...Object.fromEntries(others), [slot]: amount };
}

/** Whether both ask for the same; a slot of which nothing is wanted counts for nothing. */
export function sameSlots(one: Slots, other: Slots): boolean {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every(
    (slot) => (one[slot] ?? 0) === (other[slot] ?? 0),
  );
}
