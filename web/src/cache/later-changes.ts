import type { Session } from "@/api/types";
import { patchSession, type SessionChange } from "./patch";

const latest = new Map<string, { change: SessionChange; at: number }>();

/** Remembers an event for responses that are still in flight. */
export function rememberChange(change: SessionChange, at: number = performance.now()): void {
  latest.set(change.id, { change, at });
}

/**
 * A session from a response, with the events applied that arrived since the request.
 *
 * A response may be computed before an event is sent and arrive after it; it would overwrite the newer state.
 */
export function withLaterChanges<T extends Session>(session: T, requestedAt: number): T {
  const seen = latest.get(session.id);
  return seen && seen.at >= requestedAt ? patchSession(session, seen.change) : session;
}
