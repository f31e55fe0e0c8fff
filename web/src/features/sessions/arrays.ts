import { hasEnded } from "@/api/session-states";
import type { Session, SessionState } from "@/api/types";

type SessionArray = NonNullable<Session["array"]>;

/** The states from the one that describes an array best to the one that does least. */
const TELLING: readonly SessionState[] = [
  "RUNNING",
  "STARTING",
  "PREPARING",
  "SCHEDULED",
  "PENDING",
  "TERMINATING",
  "ERROR",
  "TERMINATED",
  "CANCELLED",
];

export const arrayName = ({ name, first, last }: SessionArray) => `${name}[${first}-${last}]`;

/** The name of the session, or of the array that its row stands for. */
export const rowName = ({ name, array }: Pick<Session, "name" | "array">): string =>
  array ? arrayName(array) : name;

/** Whether the session, or every session of the array that its row stands for, has ended. */
export const rowHasEnded = ({ state, array }: Pick<Session, "state" | "array">): boolean =>
  array ? array.counts.every((one) => hasEnded(one.state)) : hasEnded(state);

/** Whether the session, or one of the array that its row stands for, is pending. */
export const rowIsPending = ({ state, array }: Pick<Session, "state" | "array">): boolean =>
  array ? array.counts.some((one) => one.state === "PENDING") : state === "PENDING";

/** The state of the session, or the one that describes the array that its row stands for. */
export const rowState = ({ state, array }: Pick<Session, "state" | "array">): SessionState =>
  array ? (TELLING.find((one) => array.counts.some((count) => count.state === one)) ?? state) : state;

/** The results from the one that describes an array best. */
const TELLING_RESULTS = ["failure", "timed_out", "cancelled", "success"] as const;

/** The result of the session, or of the array that its row stands for: the worst one, once all have ended. */
export function rowResult({ result, array, state }: Pick<Session, "result" | "array" | "state">) {
  if (!array) return result;
  if (!rowHasEnded({ state, array })) return null;
  return TELLING_RESULTS.find((one) => array.counts.some((count) => count.result === one)) ?? null;
}

export interface ArrayTotals {
  pending: number;
  starting: number;
  running: number;
  ending: number;
  done: number;
  failed: number;
  cancelled: number;
}

/** The sessions of an array by what they do and how they ended. */
export function arrayTotals({ counts }: SessionArray): ArrayTotals {
  const totals = { pending: 0, starting: 0, running: 0, ending: 0, done: 0, failed: 0, cancelled: 0 };
  for (const one of counts) totals[totalOf(one)] += one.count;
  return totals;
}

function totalOf({ state, result }: SessionArray["counts"][number]): keyof ArrayTotals {
  if (state === "PENDING") return "pending";
  if (state === "RUNNING") return "running";
  if (state === "TERMINATING") return "ending";
  if (!hasEnded(state)) return "starting";
  if (result === "success") return "done";
  return result === "failure" || result === "timed_out" ? "failed" : "cancelled";
}
