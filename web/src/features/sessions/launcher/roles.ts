import type { SessionCreate, SlotRequest, Slots } from "@/api/types";
import { type EnvironmentRow, environmentRows, toEnvironment } from "./variables";

export type RequestRole = NonNullable<SessionCreate["roles"]>[number];

/** A role in the form. */
export type LaunchRole = Omit<RequestRole, "env"> & { variables?: EnvironmentRow[] };

export const toRole = ({ variables = [], ...role }: LaunchRole): RequestRole => ({
  ...role,
  ...toEnvironment(variables),
});

export const formRole = ({ env = {}, ...role }: RequestRole): LaunchRole => ({
  ...role,
  ...(Object.keys(env).length > 0 ? { variables: environmentRows(env) } : {}),
});

const NAME = /^[a-z]([a-z-]{0,18}[a-z])?$/;

/** Whether the role has no valid name, or that of an earlier one. */
export const roleFault = (roles: readonly LaunchRole[], index: number): boolean => {
  const name = roles[index]?.name ?? "";
  return !NAME.test(name) || roles.some((other, at) => at < index && other.name === name);
};

/** The role with other values; undefined or empty: those of the session. */
export const changedRole = (role: LaunchRole, part: Partial<LaunchRole>): LaunchRole =>
  Object.fromEntries(
    Object.entries({ ...role, ...part }).filter(([, value]) => value !== undefined && value !== ""),
  ) as LaunchRole;

/** Amounts as a request has them: cpu and mem always, others unless zero. */
export const requested = ({ cpu = 0, mem = 0, ...others }: Slots): SlotRequest => ({
  cpu,
  mem,
  ...Object.fromEntries(Object.entries(others).filter(([, amount]) => amount > 0)),
});
