import type { LaunchLink } from "@/routing/launch-link";
import { freshAfter } from "./dependencies";
import { freshMount } from "./mounts";
import { type LaunchForm, sameSlots } from "./request";
import type { LaunchRole } from "./roles";
import { type EnvironmentRow, environmentRow } from "./variables";

const PLAIN = [
  "image",
  "name",
  "description",
  "kind",
  "script",
  "array",
  "containers",
  "placement",
  "topology",
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
  const roles = form.roles.map(withoutVariables);
  const link: LaunchLink = {
    ...Object.fromEntries(plain.map((field) => [field, form[field]])),
    ...(sameSlots(form.slots, initial.slots) ? {} : { slots: form.slots }),
    ...(JSON.stringify(mounts) === JSON.stringify(initial.mounts.map(withoutKey)) ? {} : { mounts }),
    ...(sameNames(form.alternative_groups, initial.alternative_groups)
      ? {}
      : { alternative_groups: form.alternative_groups }),
    ...(JSON.stringify(roles) === JSON.stringify(initial.roles.map(withoutVariables)) ? {} : { roles }),
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

const sameNames = (one: string[], other: string[]) => one.join() === other.join();

const withoutKey = <Row extends { key: string }>({ key, ...row }: Row): Omit<Row, "key"> => row;

/** Variables may be secret. */
const withoutVariables = ({ variables, ...role }: LaunchRole): LaunchRole => role;

/** The session storage key of the variables, which do not belong in a link. */
const stored = (from: string) => `carrel.launch.env.${from}`;

/** Keeps the variables of the form and those of its roles in this tab. */
export function keepVariables(from: string, { env, roles }: Pick<LaunchForm, "env" | "roles">): void {
  try {
    const all = [env, ...roles.map(({ variables = [] }) => variables)];
    const kept = all.map((rows) => rows.map(({ name, value }) => [name, value]));
    if (kept.every((rows) => rows.length === 0)) sessionStorage.removeItem(stored(from));
    else sessionStorage.setItem(stored(from), JSON.stringify(kept));
  } catch {
    // Without storage, the variables last until the page is closed.
  }
}

/** The form with the variables that were kept in this tab, if any. */
export function withKeptVariables(from: string, form: LaunchForm): LaunchForm {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(stored(from)) ?? "null");
    if (!Array.isArray(kept)) return form;
    const [env = [], ...ofRoles] = kept.filter(Array.isArray).map(keptRows);
    const roles = form.roles.map((role, at) => {
      const variables = ofRoles[at] ?? [];
      return variables.length > 0 ? { ...role, variables } : withoutVariables(role);
    });
    return { ...form, env, roles };
  } catch {
    return form;
  }
}

const keptRows = (rows: unknown[]): EnvironmentRow[] =>
  rows.filter(Array.isArray).map(([name, value]) => environmentRow(String(name), String(value)));
