import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { storageHostKindsList, storageHostsList, storageHostsShow } from "@/api/generated/sdk.gen";
import type { StorageHostsListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type HostFilter = Pick<NonNullable<StorageHostsListData["query"]>, "q" | "sort">;

/** Storage hosts, page by page, in the order of the server. */
export function hostsListQuery(filter: HostFilter) {
  return infiniteQueryOptions({
    queryKey: ["hosts", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await storageHostsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const everyHost = (filter: HostFilter) =>
  everyPage((cursor) => storageHostsList({ query: { ...filter, limit: 200, cursor } }));

/** The storage hosts to choose from. */
export const hostsChoiceQuery = queryOptions({
  queryKey: ["hosts", "choice"] as const,
  queryFn: () => everyHost({ sort: "name" }),
});

/** The kinds of storage that are installed, with the settings of each. */
export const hostKindsQuery = queryOptions({
  queryKey: ["hosts", "kinds"] as const,
  queryFn: async ({ signal }) => (await storageHostKindsList({ signal })).data.items,
});

/** One storage host, by id. */
export function hostsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["hosts", "show", id] as const,
    queryFn: async ({ signal }) => (await storageHostsShow({ path: { ref: id }, signal })).data,
  });
}
