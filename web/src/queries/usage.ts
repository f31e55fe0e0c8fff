import { queryOptions } from "@tanstack/react-query";
import { usageRecent } from "@/api/generated/sdk.gen";
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
