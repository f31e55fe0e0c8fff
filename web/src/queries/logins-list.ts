import { infiniteQueryOptions } from "@tanstack/react-query";
import { loginsList } from "@/api/generated/sdk.gen";

/** Where the person is signed in; what was used last comes first. */
export const loginsListQuery = infiniteQueryOptions({
  queryKey: ["logins", "list"] as const,
  queryFn: async ({ pageParam, signal }) =>
    (await loginsList({ query: { limit: 100, cursor: pageParam }, signal })).data,
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});
