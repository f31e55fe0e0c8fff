import { hasEnded } from "@/api/session-states";
import type { Session, SessionState } from "@/api/types";

/** The number of sessions by state, largest first; sessions that have ended are not counted. */
export function countStates(sessions: readonly Pick<Session, "state">[]): [SessionState, number][] {
  const counts = new Map<SessionState, number>();
  for (const { state } of sessions) {
    if (!hasEnded(state)) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}
