import type { SessionState } from "./types";

/** All states, in the order in which a session has them. */
export const SESSION_STATES: readonly SessionState[] = [
  "PENDING",
  "SCHEDULED",
  "PREPARING",
  "STARTING",
  "RUNNING",
  "TERMINATING",
  "TERMINATED",
  "CANCELLED",
  "ERROR",
];

/** Final states of a session. */
export const ENDED: readonly SessionState[] = ["TERMINATED", "CANCELLED", "ERROR"];

/** Transitional states: listed with the live sessions, with progress. */
export const UNDER_WAY: readonly SessionState[] = [
  "PENDING",
  "SCHEDULED",
  "PREPARING",
  "STARTING",
  "TERMINATING",
];

export const hasEnded = (state: SessionState): boolean => ENDED.includes(state);
export const isUnderWay = (state: SessionState): boolean => UNDER_WAY.includes(state);
