import { useLingui } from "@lingui/react/macro";
import type { User } from "@/api/types";
import { ROLES } from "./words";

/** The name of a role. */
export function RoleText({ role }: { role: User["role"] }) {
  const { i18n } = useLingui();
  return i18n._(ROLES[role]);
}
