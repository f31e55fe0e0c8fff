import { queryOptions } from "@tanstack/react-query";
import { usersShow } from "@/api/generated/sdk.gen";

/** Everything about one user, by id or e-mail. */
export function usersShowQuery(ref: string) {
  return queryOptions({
    queryKey: ["users", "show", ref] as const,
    queryFn: async ({ signal }) => (await usersShow({ path: { ref }, signal })).data,
  });
}
