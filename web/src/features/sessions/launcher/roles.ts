import type { SessionCreate, SlotRequest, Slots } from "@/api/types";

export type Role = NonNullable<SessionCreate["roles"]>[number];

const NAME = /^[a-z]([a-z-]{0,18}[a-z])?$/;

/** Whether the role has no valid name, or that of an earlier one. */
export const roleFault = (roles: readonly Role[], index: number): boolean => {
  const name = roles[index]?.name ?? "";
  return !NAME.test(name) || roles.some((other, at) => at < index && other.name === name);
};

/** The role with an amount of its own; with none left, it has those of the session. */
export function withAmount(role: Role, slot: "cpu" | "mem", amount: number, usual: Slots): Role {
  const { slots, ...others } = role;
  const own = { ...usual, ...slots, [slot]: amount || (usual[slot] ?? 0) } as SlotRequest;
  if (amount === 0 && own.cpu === usual.cpu && own.mem === usual.mem) return others as Role;
  return { ...others, slots: own } as Role;
}
