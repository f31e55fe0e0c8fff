import { useLingui } from "@lingui/react/macro";
import { Badge } from "@mantine/core";
import type { User } from "@/api/types";
import { USER_STATE_NAMES } from "./words";

const COLORS: Record<User["state"], string> = {
  active: "lamp",
  inactive: "gray",
  unverified: "brass",
  purged: "red",
};

/** The state of an account as a badge. */
export function StateBadge({ state }: { state: User["state"] }) {
  const { i18n } = useLingui();
  return (
    <Badge size="sm" variant="light" color={COLORS[state]}>
      {i18n._(USER_STATE_NAMES[state])}
    </Badge>
  );
}
