import type { LaunchLink } from "@/routing/launch-link";
import { freshAfter } from "./dependencies";
import { freshMount } from "./mounts";
import { environmentRow, type LaunchForm, sameSlots } from "./request";

const PLAIN = [
  "image",
  "name",
  "description",
  "kind",
  "script",
  "array",
  "containers",
  "placement",
  "on_failure",
  "stop_signal",
  "start_at",
  "retries",
  "project",
  "group",
  "node",
  "rights",
  "priority",
  "time_limit_s",
  "on_dependency_failure",
  "bootstrap",
  "shm_bytes",
  "disk_bytes",
  "workdir",
  "timezone",
  "locale",
  "grace_s",
] as const;

/** Longer texts do not fit in an address. */
const LONGEST = 4000;

/** What a link must hold to restore the form; undefined if nothing differs from its initial values. */
export function toLink(form: LaunchForm, initial: LaunchForm): LaunchLink | undefined {
  const plain = PLAIN.filter(
    (field) => form[field] !== initial[field] && String(form[field]).length <= LONGEST,
  );
  const mounts = form.mounts.map(withoutKey);
  const after = form.after.map(withoutKey);
  // Their variables may be secret.
  const roles = form.roles.map(({ env, ...role }) => role);
  const link: LaunchLink = {
    ...Object.fromEntries(plain.map((field) => [field, form[field]])),
    ...(sameSlots(form.slots, initial.slots) ? {} : { slots: form.slots }),
    ...(JSON.stringify(mounts) === JSON.stringify(initial.mounts.map(withoutKey)) ? {} : { mounts }),
    ...(JSON.stringify(form.roles) === JSON.stringify(initial.roles) ? {} : { roles }),
    ...(JSON.stringify(after) === JSON.stringify(initial.after.map(withoutKey)) ? {} : { after }),
  };
  return Object.keys(link).length > 0 ? link : undefined;
}

/** The initial values with the changes that a link holds. */
export function fromLink(link: LaunchLink | undefined, initial: LaunchForm): LaunchForm {
  const { mounts, after, ...others } = link ?? {};
  return {
    ...initial,
    ...others,
    mounts: mounts?.map((mount) => ({ ...freshMount(), ...mount })) ?? initial.mounts,
    after: after?.map((one) => ({ ...freshAfter(), ...one })) ?? initial.after,
  };
}

const withoutKey = <Row extends { key: string }>({ key, ...row }: Row): Omit<Row, "key"> => row;

/** The session storage key of the variables: they may be secret, and do not belong in a link. */
const stored = (from: string) => `carrel.launch.env.${from}`;

export function keepVariables(from: string, env: LaunchForm["env"]): void {
  try {
    const rows = env.map(({ name, value }) => [name, value]);
    if (rows.length === 0) sessionStorage.removeItem(stored(from));
    else sessionStorage.setItem(stored(from), JSON.stringify(rows));
  } catch {
    // Without storage, the variables last until the page is closed.
  }
}

/** The variables that were kept in this tab, or undefined. */
export function keptVariables(from: string): LaunchForm["env"] | undefined {
  try {
    const rows: unknown = JSON.parse(sessionStorage.getItem(stored(from)) ?? "null");
    if (!Array.isArray(rows)) return undefined;
    return rows.filter(Array.isArray).map(([name, value]) => environmentRow(String(name), String(value)));
  } catch {
    return undefined;
  }
}
