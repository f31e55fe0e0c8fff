import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { groupsList } from "@/api/generated/sdk.gen";
import type { GroupsListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type GroupFilter = Pick<NonNullable<GroupsListData["query"]>, "q" | "active" | "sort">;

/** Resource groups that the person may see, page by page, in the order of the server. */
export function groupsListQuery(filter: GroupFilter) {
  return infiniteQueryOptions({
    queryKey: ["groups", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await groupsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every group that the filter finds. */
export const everyGroup = (filter: GroupFilter) =>
  everyPage((cursor) => groupsList({ query: { ...filter, limit: 200, cursor } }));

/** The groups to choose from. */
export const groupsChoiceQuery = queryOptions({
  queryKey: ["groups", "choice"] as const,
  queryFn: () => everyGroup({ sort: "name" }),
});
