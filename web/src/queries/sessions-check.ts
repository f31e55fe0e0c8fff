import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { sessionsCheck } from "@/api/generated/sdk.gen";
import type { CheckRequest } from "@/api/types";

/** What would happen to such a request, and what is left. The answer before it stays until the next one is there. */
export function sessionsCheckQuery(request: CheckRequest) {
  return queryOptions({
    queryKey: ["check", request] as const,
    queryFn: async ({ signal }) => (await sessionsCheck({ body: request, signal })).data,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
}
