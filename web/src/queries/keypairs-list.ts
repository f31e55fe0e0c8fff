import { queryOptions } from "@tanstack/react-query";
import { keypairsList } from "@/api/generated/sdk.gen";

/** The signed-in person's keypairs, without their secrets. */
export const keypairsListQuery = queryOptions({
  queryKey: ["keypairs", "list"] as const,
  queryFn: async ({ signal }) => (await keypairsList({ signal })).data.items,
});
