import type { SessionState } from "./types";

/** Nothing more will happen to a session in one of these. */
export const ENDED: readonly SessionState[] = ["TERMINATED", "CANCELLED", "ERROR"];

/** On its way somewhere: shown among the running things, with progress. */
export const UNDER_WAY: readonly SessionState[] = [
  "PENDING",
  "SCHEDULED",
  "PREPARING",
  "STARTING",
  "TERMINATING",
];

export const hasEnded = (state: SessionState): boolean => ENDED.includes(state);
export const isUnderWay = (state: SessionState): boolean => UNDER_WAY.includes(state);
