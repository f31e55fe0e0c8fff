import type { Session } from "@/api/types";
import type { Readings } from "@/cache/usage";

export const IDLE_PERCENT = 5;
/** A minute of readings: a session that has just started is not idle. */
const LEAST_READINGS = 12;

/** The sessions whose mean CPU use is below the threshold, the largest allocation first. */
export function idleAmong<One extends Pick<Session, "slots">>(
  sessions: readonly One[],
  readings: readonly Readings[],
): { session: One; percent: number }[] {
  return sessions
    .flatMap((session, index) => {
      const used = readings[index]?.cpu_millis ?? [];
      const given = session.slots.cpu ?? 0;
      if (used.length < LEAST_READINGS || given === 0) return [];
      const share = used.reduce((sum, one) => sum + one, 0) / used.length / given;
      return share * 100 < IDLE_PERCENT ? [{ session, percent: Math.round(share * 100) }] : [];
    })
    .sort((one, other) => (other.session.slots.cpu ?? 0) - (one.session.slots.cpu ?? 0));
}
