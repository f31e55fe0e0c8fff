import { queryOptions } from "@tanstack/react-query";
import { resourcesShow } from "@/api/generated/sdk.gen";

/** Capacity, usage, and the largest session that could start now. */
export const resourcesShowQuery = queryOptions({
  queryKey: ["resources", "show"] as const,
  queryFn: async ({ signal }) => (await resourcesShow({ signal })).data,
});
