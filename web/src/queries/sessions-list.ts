import { infiniteQueryOptions } from "@tanstack/react-query";
import { sessionsList } from "@/api/generated/sdk.gen";
import type { SessionFilter, SessionPage } from "@/cache/patch";
import { withLaterChanges } from "@/cache/seen";

const PAGE = 50;

/** Sessions newest first, page by page. */
export function sessionsListQuery(filter: SessionFilter) {
  return infiniteQueryOptions({
    queryKey: ["sessions", "list", filter] as const,
    queryFn: async ({ pageParam, signal }): Promise<SessionPage> => {
      const askedAt = performance.now();
      const { data } = await sessionsList({
        query: {
          state: filter.state,
          q: filter.q || undefined,
          owner: filter.owner,
          project: filter.project,
          limit: PAGE,
          cursor: pageParam ?? undefined,
        },
        signal,
      });
      return {
        items: data.items.map((item) => withLaterChanges(item, askedAt)),
        next_cursor: data.next_cursor ?? null,
      };
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}
