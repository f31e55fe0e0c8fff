import type { InfiniteData } from "@tanstack/react-query";
import { hasEnded } from "@/api/session-states";
import type { Session, SessionKind, SessionState } from "@/api/types";

export interface SessionPage {
  items: Session[];
  next_cursor: string | null;
}
export type SessionPages = InfiniteData<SessionPage, string | null>;

/** The session fields in an event: its id and the fields that changed. */
export type SessionChange = Partial<Session> & { id: string };

export interface SessionFilter {
  state: "live" | "ended" | "all" | SessionState;
  q: string;
  /** "me", "shared" with the user, "all", or the e-mail of a user. */
  owner: string;
  /** Ids or names; any if absent. */
  domain?: string;
  project?: string;
  group?: string;
  /** Name; any if absent. */
  node?: string;
  kind?: SessionKind;
  /** The id of an array, for its sessions; absent: one row for each array. */
  array?: string;
}

/** The session with the change applied; the same object when nothing changed. */
export function patchSession<T extends Session>(session: T, change: SessionChange): T {
  const known = Object.entries(change).filter(
    ([key, value]) => key in session && !same(session[key as keyof T], value),
  );
  if (known.length === 0) return session;
  const patched = { ...session, ...Object.fromEntries(known) };
  if (patched.state !== "PENDING" && patched.queue_position !== null) patched.queue_position = null;
  return patched;
}

/**
 * The pages with the change applied, in the same order; the same object when nothing changed.
 *
 * A row that no longer matches its filter stays for some seconds (see `leaveLists`), so that one sees how a
 * session ended.
 */
export function patchPages(pages: SessionPages, change: SessionChange): SessionPages {
  let touched = false;
  const next = pages.pages.map((page) => {
    const at = page.items.findIndex((item) => item.id === change.id);
    const before = page.items[at];
    if (!before) return page;
    const after = patchSession(before, change);
    if (after === before) return page;
    touched = true;
    return { ...page, items: page.items.with(at, after) };
  });
  return touched ? { ...pages, pages: next } : pages;
}

/**
 * The pages with this session: updated in place, or inserted by its age (newest first).
 *
 * A session older than all loaded ones is left out while more pages remain, since the next page will contain
 * it.
 */
export function upsertSession(pages: SessionPages, session: Session): SessionPages {
  if (includesSession(pages, session.id)) return patchPages(pages, session);
  const last = pages.pages.length - 1;
  for (const [index, page] of pages.pages.entries()) {
    const at = page.items.findIndex((item) => item.created_at < session.created_at);
    const fitsAtEnd = at < 0 && index === last && page.next_cursor === null;
    if (at < 0 && !fitsAtEnd) continue;
    const items = page.items.toSpliced(at < 0 ? page.items.length : at, 0, session);
    return { ...pages, pages: pages.pages.with(index, { ...page, items }) };
  }
  return pages;
}

/** The pages without this session. */
export function removeSession(pages: SessionPages, id: string): SessionPages {
  if (!includesSession(pages, id)) return pages;
  return {
    ...pages,
    pages: pages.pages.map((page) => ({ ...page, items: page.items.filter((item) => item.id !== id) })),
  };
}

export function includesSession(pages: SessionPages, id: string): boolean {
  return pages.pages.some((page) => page.items.some((item) => item.id === id));
}

/** Whether the server would list this session under the filter. */
export function meetsFilter(session: Session, filter: SessionFilter, me: string): boolean {
  if (filter.owner === "me" && session.owner.id !== me) return false;
  if (filter.owner === "shared" && session.shared_as === null) return false;
  if (!["me", "shared", "all"].includes(filter.owner) && session.owner.email !== filter.owner) return false;
  if (filter.array === undefined ? !standsInLists(session) : session.array_id !== filter.array) return false;
  const states =
    filter.array === undefined && session.array
      ? session.array.counts.map(({ state }) => state)
      : [session.state];
  if (filter.state === "live" && states.every(hasEnded)) return false;
  if (filter.state === "ended" && !states.every(hasEnded)) return false;
  if (!["live", "ended", "all"].includes(filter.state) && !states.some((state) => state === filter.state))
    return false;
  if (filter.domain !== undefined && !is(session.domain, filter.domain)) return false;
  if (filter.project !== undefined && !is(session.project, filter.project)) return false;
  if (filter.group !== undefined && !is(session.group, filter.group)) return false;
  if (filter.node !== undefined && session.node !== filter.node) return false;
  if (filter.kind !== undefined && session.kind !== filter.kind) return false;
  const q = filter.q.toLowerCase();
  const texts = [session.name, session.image, session.image_name ?? ""];
  // Another session of the array may match by its index or id.
  const ofArray = session.array !== null && filter.array === undefined && /\d/.test(q);
  return q === "" || ofArray || texts.some((text) => text.toLowerCase().includes(q));
}

/** Whether a list with one row for each array has a row for this session. */
export const standsInLists = ({ id, array_id }: Pick<Session, "id" | "array_id">): boolean =>
  array_id === null || array_id === id;

const is = ({ id, name }: { id: string; name: string }, ref: string) => id === ref || name === ref;

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}
