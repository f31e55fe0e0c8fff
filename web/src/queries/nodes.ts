import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { nodesDrain, nodesForget, nodesList, nodesShow, nodesUpdate } from "@/api/generated/sdk.gen";
import type { NodesListData } from "@/api/generated/types.gen";
import type { Drain, Draining, Forgotten, NodeDetail, NodeUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type NodeFilter = Pick<
  NonNullable<NodesListData["query"]>,
  "q" | "group" | "selector" | "state" | "cordoned" | "sort"
>;

/** How often the load of the machines is measured; no event tells. */
const MEASURED_MS = 60_000;
/** As often as is worth while for accelerators, which are measured every ten seconds. */
const DEVICES_MEASURED_MS = 15_000;

/** Nodes that the user may see, paginated, in server order. */
export function nodesListQuery(filter: NodeFilter) {
  return infiniteQueryOptions({
    queryKey: ["nodes", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await nodesList({ query: { ...filter, limit: 100, cursor: pageParam }, signal })).data,
    refetchInterval: MEASURED_MS,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All nodes that match the filter. */
export const everyNode = (filter: NodeFilter) =>
  everyPage((cursor) => nodesList({ query: { ...filter, limit: 200, cursor } }));

/** All nodes at once, for the map. */
export function nodesAllQuery(filter: NodeFilter) {
  return queryOptions({
    queryKey: ["nodes", "whole", filter] as const,
    queryFn: () => everyNode(filter),
  });
}

/** One node with the sessions on it, by id. */
export function nodesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["nodes", "show", id] as const,
    queryFn: async ({ signal }) => (await nodesShow({ path: { ref: id }, signal })).data,
    refetchInterval: ({ state }) => (state.data?.devices.length ? DEVICES_MEASURED_MS : MEASURED_MS),
  });
}

const TOUCHED = ["nodes", "groups", "resources"];

/** Updates the given fields of a node. */
export const useUpdateNode = () =>
  useChange<{ id: string } & NodeUpdate, NodeDetail>(
    async ({ id, ...body }) => (await nodesUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Starts to drain a node. */
export const useDrainNode = () =>
  useChange<{ id: string; how: Draining }, Drain>(
    async ({ id, how }) => (await nodesDrain({ path: { ref: id }, body: { how } })).data,
    TOUCHED,
  );

/** Removes a lost node, by its name. */
export const useForgetNode = () =>
  useChange<string, Forgotten>(
    async (name) => (await nodesForget({ path: { ref: name }, body: { confirm: name } })).data,
    TOUCHED,
  );

/** What a drain would do to each session on a node. Changes nothing. */
export function nodesDrainQuery(id: string, how: Draining) {
  return queryOptions({
    queryKey: ["nodes", "drain", id, how] as const,
    queryFn: async ({ signal }) =>
      (await nodesDrain({ path: { ref: id }, body: { how, dry_run: true }, signal })).data,
    staleTime: 0,
  });
}
