import { queryOptions } from "@tanstack/react-query";
import { authGreeting } from "@/api/generated/sdk.gen";

/** What is known before anybody has signed in: rules of passwords, providers, the announcement. */
export const greetingQuery = queryOptions({
  queryKey: ["greeting"] as const,
  queryFn: async ({ signal }) => (await authGreeting({ signal })).data,
  staleTime: 60_000,
});
