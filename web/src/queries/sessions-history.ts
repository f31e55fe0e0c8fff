import { queryOptions } from "@tanstack/react-query";
import { sessionsHistory } from "@/api/generated/sdk.gen";

/** Every transition of a session with its time, cause and actor, oldest first. */
export function sessionsHistoryQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "history", id] as const,
    queryFn: async ({ signal }) => (await sessionsHistory({ path: { ref: id }, signal })).data.items,
  });
}
