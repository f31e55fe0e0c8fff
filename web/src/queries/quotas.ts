import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { quotasList } from "@/api/generated/sdk.gen";
import type { QuotasListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type QuotaFilter = Pick<NonNullable<QuotasListData["query"]>, "q" | "kind" | "sort">;

/** The quota usage of all owners that the user administers, paginated. */
export function quotasListQuery(filter: QuotaFilter) {
  return infiniteQueryOptions({
    queryKey: ["quotas", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await quotasList({ query: { ...filter, of: "all", limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const everyQuota = (filter: QuotaFilter) =>
  everyPage((cursor) => quotasList({ query: { ...filter, of: "all", limit: 200, cursor } }));

/** The quota usage of the user and their projects. */
export const ownQuotasQuery = queryOptions({
  queryKey: ["quotas", "own"] as const,
  queryFn: async ({ signal }) => (await quotasList({ query: { of: "me", limit: 100 }, signal })).data.items,
});
