import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { User } from "@/api/types";

/** Names of the roles. */
export const ROLES: Record<User["role"], MessageDescriptor> = {
  user: msg`User`,
  project_admin: msg`Project administrator`,
  domain_admin: msg`Domain administrator`,
  superadmin: msg`Superadmin`,
};

/** Names of the account states. */
export const USER_STATE_NAMES: Record<User["state"], MessageDescriptor> = {
  active: msg`Active`,
  inactive: msg`Inactive`,
  unverified: msg`Not verified`,
  purged: msg`Deleted`,
};

const RANKS = ["user", "project_admin", "domain_admin", "superadmin"] as const;

/** Whether one role ranks above the other; project administration is no rank. */
export function ranksAbove(one: User["role"], other: User["role"]): boolean {
  const rank = (role: User["role"]) => Math.max(1, RANKS.indexOf(role));
  return rank(one) > rank(other);
}
