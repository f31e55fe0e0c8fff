import { queryOptions } from "@tanstack/react-query";
import { usersList } from "@/api/generated/sdk.gen";

/** The first few people, of any domain that is reached, whose e-mail or name holds this. */
export function usersFoundQuery(q: string) {
  return queryOptions({
    queryKey: ["users", "found", null, q] as const,
    queryFn: async ({ signal }) =>
      (await usersList({ query: { q: q || undefined, state: "active", limit: 20, sort: "email" }, signal }))
        .data.items,
  });
}
