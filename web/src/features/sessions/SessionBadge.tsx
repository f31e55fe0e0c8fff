import { useLingui } from "@lingui/react/macro";
import type { SessionState } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { SESSION_STATE_WORDS } from "./state-names";

/** The state of a session as a badge. */
export function SessionBadge({ state }: { state: SessionState }) {
  const { i18n } = useLingui();
  const { label, look } = SESSION_STATE_WORDS[state];
  return (
    <StateBadge look={look} state={state}>
      {i18n._(label)}
    </StateBadge>
  );
}
