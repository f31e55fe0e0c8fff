import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { usageHistory, usageIdle, usageRecent, usageStatistics } from "@/api/generated/sdk.gen";
import type { UsageHistoryData, UsageStatisticsData } from "@/api/generated/types.gen";
import { usageFeed } from "@/cache/usage";

/** Fills the sparklines of these sessions with the usage before the page was opened. */
export function usageRecentQuery(ids: string[]) {
  return queryOptions({
    queryKey: ["usage", "recent", [...ids].sort().join(",")] as const,
    queryFn: async ({ signal }) => {
      const { data } = await usageRecent({ query: { sessions: ids.join(",") }, signal });
      for (const [id, past] of Object.entries(data.items)) usageFeed.fill(id, past);
      return null;
    },
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Sessions that hardly use their CPU, the largest first. Asked again each minute. */
export const usageIdleQuery = (below: number, limit: number) =>
  queryOptions({
    queryKey: ["usage", "idle", below, limit] as const,
    queryFn: async ({ signal }) => (await usageIdle({ query: { below, limit }, signal })).data,
    refetchInterval: 60_000,
  });

/** Allocation and usage of one scope over time. Asked again each minute, when there is a new point. */
export function usageHistoryQuery(
  scope: UsageHistoryData["query"]["scope"],
  ref: string | undefined,
  range: UsageHistoryData["query"]["range"],
) {
  return queryOptions({
    queryKey: ["usage", "history", scope, ref, range] as const,
    queryFn: async ({ signal }) => (await usageHistory({ query: { scope, ref, range }, signal })).data,
    refetchInterval: 60_000,
  });
}

type Whole = NonNullable<UsageStatisticsData["query"]>;

/** Whose statistics, by what, of which days. */
export interface StatisticsQuery {
  scope: Exclude<NonNullable<Whole["scope"]>, "node">;
  ref: string | undefined;
  by: NonNullable<Whole["by"]>;
  from: string;
  to: string;
}

/** Statistics of a period. They change once an hour. */
export const statisticsQuery = (query: StatisticsQuery) =>
  queryOptions({
    queryKey: ["usage", "statistics", query] as const,
    queryFn: async ({ signal }) => (await usageStatistics({ query, signal })).data,
    placeholderData: keepPreviousData,
    staleTime: 5 * 60_000,
  });
