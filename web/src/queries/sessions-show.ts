import { queryOptions } from "@tanstack/react-query";
import { sessionsShow } from "@/api/generated/sdk.gen";
import { withLaterChanges } from "@/cache/seen";

/** One session with its environment and apps; `id` may be a unique prefix or a name too. */
export function sessionsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "show", id] as const,
    queryFn: async ({ signal }) => {
      const askedAt = performance.now();
      const { data } = await sessionsShow({ path: { ref: id }, signal });
      return withLaterChanges(data, askedAt);
    },
  });
}
