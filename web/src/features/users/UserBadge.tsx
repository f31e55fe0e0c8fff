import { useLingui } from "@lingui/react/macro";
import type { User } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import type { StateLook } from "@/ui/state-looks";
import { USER_STATE_NAMES } from "./words";

const LOOKS: Record<User["state"], StateLook> = {
  active: "ok",
  inactive: "off",
  unverified: "waiting",
  purged: "deleted",
};

/** The state of an account as a badge. */
export function UserBadge({ state }: { state: User["state"] }) {
  const { i18n } = useLingui();
  return (
    <StateBadge look={LOOKS[state]} state={state}>
      {i18n._(USER_STATE_NAMES[state])}
    </StateBadge>
  );
}
