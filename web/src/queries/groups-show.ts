import { queryOptions } from "@tanstack/react-query";
import { groupsShow } from "@/api/generated/sdk.gen";

/** One resource group, by id. */
export function groupsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["groups", "show", id] as const,
    queryFn: async ({ signal }) => (await groupsShow({ path: { ref: id }, signal })).data,
  });
}
