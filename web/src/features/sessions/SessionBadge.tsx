import { useLingui } from "@lingui/react/macro";
import { hasEnded } from "@/api/session-states";
import type { Result, SessionState } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { RESULT_WORDS, SESSION_STATE_WORDS } from "./state-names";

interface Props {
  state: SessionState;
  /** Of a batch session. */
  result?: Result | null;
}

/** The state of a session as a badge, or the result of a batch session that has ended. */
export function SessionBadge({ state, result }: Props) {
  const { i18n } = useLingui();
  const { label, look } = result && hasEnded(state) ? RESULT_WORDS[result] : SESSION_STATE_WORDS[state];
  return (
    <StateBadge look={look} state={state}>
      {i18n._(label)}
    </StateBadge>
  );
}
