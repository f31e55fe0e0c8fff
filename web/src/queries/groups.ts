import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  groupsCreate,
  groupsList,
  groupsPreviewSelector,
  groupsRemove,
  groupsSetAccess,
  groupsSetWeights,
  groupsShow,
  groupsUpdate,
} from "@/api/generated/sdk.gen";
import type { GroupsListData } from "@/api/generated/types.gen";
import type { AccessUpdate, Group, GroupCreate, GroupUpdate, WeightsUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type GroupFilter = Pick<NonNullable<GroupsListData["query"]>, "q" | "active" | "sort">;

/** Resource groups that the user may see, paginated, in server order. */
export function groupsListQuery(filter: GroupFilter) {
  return infiniteQueryOptions({
    queryKey: ["groups", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await groupsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All groups that match the filter. */
export const everyGroup = (filter: GroupFilter) =>
  everyPage((cursor) => groupsList({ query: { ...filter, limit: 200, cursor } }));

/** Groups for select inputs. */
export const groupsChoiceQuery = queryOptions({
  queryKey: ["groups", "choice"] as const,
  queryFn: () => everyGroup({ sort: "name" }),
});

/** One resource group, by id. */
export function groupsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["groups", "show", id] as const,
    queryFn: async ({ signal }) => (await groupsShow({ path: { ref: id }, signal })).data,
  });
}

/** The nodes that a node selector selects. name: of its group, existing or new. */
export function selectorPreviewQuery(selector: string, name: string) {
  return queryOptions({
    queryKey: ["nodes", "selected", selector, name] as const,
    queryFn: async ({ signal }) => (await groupsPreviewSelector({ body: { selector, name }, signal })).data,
  });
}

const TOUCHED = ["groups", "nodes", "presets", "shares"];

export const useCreateGroup = () =>
  useChange<GroupCreate, Group>(async (body) => (await groupsCreate({ body })).data, TOUCHED);

/** Updates the given fields of a resource group. */
export const useUpdateGroup = () =>
  useChange<{ id: string } & GroupUpdate, Group>(
    async ({ id, ...body }) => (await groupsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveGroup = () =>
  useChange<string, unknown>(async (id) => (await groupsRemove({ path: { ref: id } })).data, TOUCHED);

/** Replaces the access list of a group. */
export const useSetAccess = () =>
  useChange<{ id: string } & AccessUpdate, Group>(
    async ({ id, ...body }) => (await groupsSetAccess({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Replaces the fair-share weights of a group. */
export const useSetWeights = () =>
  useChange<{ id: string } & WeightsUpdate, Group>(
    async ({ id, ...body }) => (await groupsSetWeights({ path: { ref: id }, body })).data,
    TOUCHED,
  );
