import type { QueryClient } from "@tanstack/react-query";
import type { Session, SessionDetail } from "@/api/types";
import {
  includesSession,
  meetsFilter,
  patchPages,
  patchSession,
  removeSession,
  type SessionChange,
  type SessionFilter,
  type SessionPages,
  upsertSession,
} from "./patch";

const LISTS = { queryKey: ["sessions", "list"] };

/** Every cached list of sessions, with its filter. */
function lists(
  client: QueryClient,
): { key: readonly unknown[]; filter: SessionFilter; pages: SessionPages }[] {
  return client
    .getQueriesData<SessionPages>(LISTS)
    .flatMap(([key, pages]) => (pages ? [{ key, pages, filter: key[2] as SessionFilter }] : []));
}

/** Applies a change to every cached list and detail of the session. */
export function changeSession(client: QueryClient, change: SessionChange): void {
  client.setQueriesData<SessionPages>(LISTS, (pages) => pages && patchPages(pages, change));
  // The key of a detail may be a name or an id prefix.
  client.setQueriesData<SessionDetail>({ queryKey: ["sessions", "show"] }, (session) =>
    session?.id === change.id ? patchSession(session, change) : session,
  );
}

/** Adds a session to every cached list whose filter matches, and updates it where it already is. */
export function putSession(client: QueryClient, session: Session, me: string): void {
  for (const { key, filter, pages } of lists(client)) {
    const next = meetsFilter(session, filter, me)
      ? upsertSession(pages, session)
      : patchPages(pages, session);
    if (next !== pages) client.setQueryData(key, next);
  }
}

export function dropSession(client: QueryClient, id: string): void {
  client.setQueriesData<SessionPages>(LISTS, (pages) => pages && removeSession(pages, id));
}

/** Removes the session from every cached list whose filter it no longer matches. */
export function leaveLists(client: QueryClient, id: string, me: string): void {
  for (const { key, filter, pages } of lists(client)) {
    const session = pages.pages.flatMap((page) => page.items).find((item) => item.id === id);
    if (session && !meetsFilter(session, filter, me)) client.setQueryData(key, removeSession(pages, id));
  }
}

/** The session from any cache that has it. */
export function cachedSession(client: QueryClient, id: string): Session | undefined {
  const detail = client.getQueryData<SessionDetail>(["sessions", "show", id]);
  if (detail) return detail;
  for (const { pages } of lists(client)) {
    for (const page of pages.pages) {
      const match = page.items.find((item) => item.id === id);
      if (match) return match;
    }
  }
  return undefined;
}

/** Whether a cached list should contain this session after a change, but does not. */
export function missingSomewhere(client: QueryClient, session: Session, me: string): boolean {
  return lists(client).some(
    ({ filter, pages }) => meetsFilter(session, filter, me) && !includesSession(pages, session.id),
  );
}
