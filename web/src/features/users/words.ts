import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { User } from "@/api/types";

/** What somebody's role is called. */
export const ROLES: Record<User["role"], MessageDescriptor> = {
  user: msg`User`,
  project_admin: msg`Project administrator`,
  domain_admin: msg`Domain administrator`,
  superadmin: msg`Superadmin`,
};

/** What the state of an account is called. */
export const USER_STATE_NAMES: Record<User["state"], MessageDescriptor> = {
  active: msg`Active`,
  inactive: msg`Inactive`,
  unverified: msg`Not verified`,
  purged: msg`Deleted`,
};

const RANKS = ["user", "project_admin", "domain_admin", "superadmin"] as const;

/** Whether one ranks above the other; administering a project is no rank. */
export function ranksAbove(one: User["role"], other: User["role"]): boolean {
  const rank = (role: User["role"]) => Math.max(1, RANKS.indexOf(role));
  return rank(one) > rank(other);
}
