import { queryOptions } from "@tanstack/react-query";
import { sessionsWhy } from "@/api/generated/sdk.gen";

/** Why a session waits, what would start it now, and when it will start as far as that is known. */
export function sessionsWhyQuery(id: string) {
  return queryOptions({
    queryKey: ["why", id] as const,
    queryFn: async ({ signal }) => (await sessionsWhy({ path: { ref: id }, signal })).data,
  });
}
