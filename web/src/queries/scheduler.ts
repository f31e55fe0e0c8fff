import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { schedulerQueue, schedulerShares } from "@/api/generated/sdk.gen";

const PAGE = 500;

/** Who waits in a resource group, in order, page by page. */
export function schedulerQueueQuery(group: string) {
  return infiniteQueryOptions({
    queryKey: ["queue", group] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await schedulerQueue({ query: { group, limit: PAGE, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Who has, and has had, how much of a resource group, beside what they are entitled to. */
export function schedulerSharesQuery(group: string) {
  return queryOptions({
    queryKey: ["shares", group] as const,
    queryFn: async ({ signal }) => (await schedulerShares({ query: { group }, signal })).data,
  });
}
