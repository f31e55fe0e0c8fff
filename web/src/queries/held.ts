import { queryOptions } from "@tanstack/react-query";
import { heldList } from "@/api/generated/sdk.gen";
import type { HeldListData } from "@/api/generated/types.gen";

/** The holders with the most sessions. */
export function heldListQuery(by: HeldListData["query"]["by"], limit: number) {
  return queryOptions({
    queryKey: ["held", by, limit] as const,
    queryFn: async ({ signal }) =>
      (await heldList({ query: { by, limit, sort: "-sessions" }, signal })).data.items,
  });
}
