import type { SessionFilter } from "@/live/patch";

export const DETAIL_TABS = ["overview", "history", "logs", "apps", "usage", "environment"] as const;
export type DetailTab = (typeof DETAIL_TABS)[number];

export const SORTS = ["state", "name", "image", "slots", "age"] as const;
export type SortKey = (typeof SORTS)[number];

/** Everything about the sessions page that a link to it carries. */
export interface SessionsSearch {
  state?: SessionFilter["state"];
  q?: string;
  owner?: SessionFilter["owner"];
  sort?: SortKey;
  order?: "asc" | "desc";
  /** The session in the open drawer. */
  session?: string;
  tab?: DetailTab;
  /** The launcher is open: "new", or the id of the session whose settings it starts with. */
  launch?: string;
}

const STATES = ["live", "ended", "all", "PENDING", "RUNNING", "ERROR"] as const;

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value);
}

const text = (value: unknown): string | undefined =>
  (typeof value === "string" || typeof value === "number") && value !== "" ? String(value) : undefined;

export function sessionsSearch(raw: Record<string, unknown>): SessionsSearch {
  // What is wrong is named as undefined and not left out: the router lays this over the raw address.
  const found: SessionsSearch = {
    state: oneOf(STATES, raw.state),
    q: text(raw.q),
    owner: oneOf(["me", "all"], raw.owner),
    sort: oneOf(SORTS, raw.sort),
    order: oneOf(["asc", "desc"], raw.order),
    session: text(raw.session),
    tab: oneOf(DETAIL_TABS, raw.tab),
    launch: text(raw.launch),
  };
  return found;
}

/** The address to go to after signing in, if it is one of ours. */
export function signInSearch(raw: Record<string, unknown>): { next?: string } {
  const next = text(raw.next);
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\")
    ? { next }
    : { next: undefined };
}
