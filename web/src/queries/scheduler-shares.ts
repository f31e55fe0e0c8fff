import { queryOptions } from "@tanstack/react-query";
import { schedulerShares } from "@/api/generated/sdk.gen";

/** Who has, and has had, how much of a resource group, beside what they are entitled to. */
export function schedulerSharesQuery(group: string) {
  return queryOptions({
    queryKey: ["shares", group] as const,
    queryFn: async ({ signal }) => (await schedulerShares({ query: { group }, signal })).data,
  });
}
