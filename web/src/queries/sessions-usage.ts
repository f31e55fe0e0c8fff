import { queryOptions } from "@tanstack/react-query";
import { sessionsUsage } from "@/api/generated/sdk.gen";

/** What a session used over the last so many minutes, oldest first. */
export function sessionsUsageQuery(id: string, minutes: number) {
  return queryOptions({
    queryKey: ["sessions", "usage", id, minutes] as const,
    queryFn: async ({ signal }) =>
      (await sessionsUsage({ path: { ref: id }, query: { minutes }, signal })).data.samples,
    gcTime: 0,
  });
}
