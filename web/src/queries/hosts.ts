import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  storageHostKindsList,
  storageHostsCreate,
  storageHostsList,
  storageHostsRemove,
  storageHostsSetAccess,
  storageHostsShow,
  storageHostsUpdate,
} from "@/api/generated/sdk.gen";
import type { StorageHostsListData } from "@/api/generated/types.gen";
import type { StorageHost, StorageHostCreate, StorageHostUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

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

const TOUCHED = ["hosts", "folders"];

export const useCreateHost = () =>
  useChange<StorageHostCreate, StorageHost>(
    async (body) => (await storageHostsCreate({ body })).data,
    TOUCHED,
  );

/** Changes what is given of a storage host. */
export const useUpdateHost = () =>
  useChange<{ id: string } & StorageHostUpdate, StorageHost>(
    async ({ id, ...body }) => (await storageHostsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveHost = () =>
  useChange<string, unknown>(async (id) => (await storageHostsRemove({ path: { ref: id } })).data, TOUCHED);

/** Says who may use a host while it is not public, in place of what was. */
export const useSetHostAccess = () =>
  useChange<{ id: string; domains: string[]; projects: string[] }, StorageHost>(
    async ({ id, ...body }) => (await storageHostsSetAccess({ path: { ref: id }, body })).data,
    TOUCHED,
  );
