import { queryOptions } from "@tanstack/react-query";
import { keypairsList } from "@/api/generated/sdk.gen";

/** Keypairs of one user by id, or "all" that the person reaches. */
export function keypairsOfQuery(owner: string) {
  return queryOptions({
    queryKey: ["keypairs", "of", owner] as const,
    queryFn: async ({ signal }) => (await keypairsList({ query: { owner }, signal })).data.items,
  });
}
