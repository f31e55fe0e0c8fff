import { queryOptions } from "@tanstack/react-query";
import { policiesShow } from "@/api/generated/sdk.gen";

/** One resource policy, by id. */
export function policiesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["policies", "show", id] as const,
    queryFn: async ({ signal }) => (await policiesShow({ path: { ref: id }, signal })).data,
  });
}
