import type { SessionFilter } from "@/live/patch";

export const DETAIL_TABS = ["overview", "history", "logs", "apps", "usage", "environment"] as const;
export type DetailTab = (typeof DETAIL_TABS)[number];

/** What a link to any list carries: what is searched for, and the order. */
export interface ListSearch {
  q?: string;
  /** The key of a column; one that the list does not have leaves it unsorted. */
  sort?: string;
  order?: "asc" | "desc";
}

/** Everything about the sessions page that a link to it carries. */
export interface SessionsSearch extends ListSearch {
  state?: SessionFilter["state"];
  owner?: SessionFilter["owner"];
  /** The name of the project whose sessions are listed. */
  project?: string;
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

/** The part of an address that every list understands. */
export function listSearch(raw: Record<string, unknown>): ListSearch {
  return { q: text(raw.q), sort: text(raw.sort), order: oneOf(["asc", "desc"], raw.order) };
}

export function sessionsSearch(raw: Record<string, unknown>): SessionsSearch {
  // What is wrong is named as undefined and not left out: the router lays this over the raw address.
  const found: SessionsSearch = {
    ...listSearch(raw),
    state: oneOf(STATES, raw.state),
    owner: oneOf(["me", "all"], raw.owner),
    project: text(raw.project),
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

/** The address of a drawer on the sessions page: over the list as it is, or over the usual one from elsewhere. */
export function overSessions(now: ListSearch, part: SessionsSearch): SessionsSearch {
  return location.pathname === "/sessions" ? { ...now, ...part } : part;
}
