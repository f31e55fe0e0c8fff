import type { Session } from "@/api/types";
import { patchSession, type SessionChange } from "./patch";

const latest = new Map<string, { change: SessionChange; at: number }>();

/** Remembers what an event said, for answers that are still on their way. */
export function rememberChange(change: SessionChange, at: number = performance.now()): void {
  latest.set(change.id, { change, at });
}

/**
 * The session as an answer gave it, with what events said since the question was asked.
 *
 * An answer may be read before an event is sent and arrive after it; without this an old state would come back.
 */
export function withLaterChanges<T extends Session>(session: T, requestedAt: number): T {
  const seen = latest.get(session.id);
  return seen && seen.at >= requestedAt ? patchSession(session, seen.change) : session;
}
