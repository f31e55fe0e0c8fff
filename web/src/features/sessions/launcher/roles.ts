import type { SessionCreate, SlotRequest, Slots } from "@/api/types";

export type Role = NonNullable<SessionCreate["roles"]>[number];

const NAME = /^[a-z]([a-z-]{0,18}[a-z])?$/;

/** Whether the role has no valid name, or that of an earlier one. */
export const roleFault = (roles: readonly Role[], index: number): boolean => {
  const name = roles[index]?.name ?? "";
  return !NAME.test(name) || roles.some((other, at) => at < index && other.name === name);
};

/** The role with other values; undefined or empty: those of the session. */
export const changedRole = (role: Role, part: Partial<Role>): Role =>
  Object.fromEntries(
    Object.entries({ ...role, ...part }).filter(([, value]) => value !== undefined && value !== ""),
  ) as Role;

/** Amounts as a request has them: cpu and mem always, others unless zero. */
export const requested = ({ cpu = 0, mem = 0, ...others }: Slots): SlotRequest => ({
  cpu,
  mem,
  ...Object.fromEntries(Object.entries(others).filter(([, amount]) => amount > 0)),
});
