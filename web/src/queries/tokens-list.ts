import { queryOptions } from "@tanstack/react-query";
import { tokensList } from "@/api/generated/sdk.gen";

/** The person's own tokens, newest first, without their secrets. */
export const tokensListQuery = queryOptions({
  queryKey: ["tokens", "list"] as const,
  queryFn: async ({ signal }) => (await tokensList({ signal })).data.items,
});
