import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { schedulerQueue, schedulerShares } from "@/api/generated/sdk.gen";

const PAGE = 500;

/** The pending sessions of a resource group, in order, paginated. */
export function schedulerQueueQuery(group: string) {
  return infiniteQueryOptions({
    queryKey: ["queue", group] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await schedulerQueue({ query: { group, limit: PAGE, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Current and past usage of a resource group against the fair shares. */
export function schedulerSharesQuery(group: string) {
  return queryOptions({
    queryKey: ["shares", group] as const,
    queryFn: async ({ signal }) => (await schedulerShares({ query: { group }, signal })).data,
  });
}
