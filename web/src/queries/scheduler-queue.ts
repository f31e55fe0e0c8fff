import { queryOptions } from "@tanstack/react-query";
import { schedulerQueue } from "@/api/generated/sdk.gen";

/** So many are shown of a queue; a list is read from its beginning. */
const SHOWN = 500;

/** Who waits in a resource group, in order. */
export function schedulerQueueQuery(group: string) {
  return queryOptions({
    queryKey: ["queue", group] as const,
    queryFn: async ({ signal }) => (await schedulerQueue({ query: { group, limit: SHOWN }, signal })).data,
  });
}
