import { infiniteQueryOptions } from "@tanstack/react-query";
import { schedulerQueue } from "@/api/generated/sdk.gen";

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
