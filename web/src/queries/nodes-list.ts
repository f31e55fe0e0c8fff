import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { nodesList } from "@/api/generated/sdk.gen";
import type { NodesListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type NodeFilter = Pick<
  NonNullable<NodesListData["query"]>,
  "q" | "group" | "state" | "cordoned" | "sort"
>;

/** Nodes that the person may see, page by page, in the order of the server. */
export function nodesListQuery(filter: NodeFilter) {
  return infiniteQueryOptions({
    queryKey: ["nodes", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await nodesList({ query: { ...filter, limit: 100, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every node that the filter finds. */
export const everyNode = (filter: NodeFilter) =>
  everyPage((cursor) => nodesList({ query: { ...filter, limit: 200, cursor } }));

/** All of them at once, for a picture. */
export function nodesWholeQuery(filter: NodeFilter) {
  return queryOptions({
    queryKey: ["nodes", "whole", filter] as const,
    queryFn: () => everyNode(filter),
  });
}
