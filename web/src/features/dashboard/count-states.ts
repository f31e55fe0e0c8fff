import { hasEnded } from "@/api/session-states";
import type { Session, SessionState } from "@/api/types";

/** How many sessions are in each state, the most first; a row that has just ended is not live any more. */
export function countStates(sessions: readonly Pick<Session, "state">[]): [SessionState, number][] {
  const counts = new Map<SessionState, number>();
  for (const { state } of sessions) {
    if (!hasEnded(state)) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}
