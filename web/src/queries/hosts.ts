import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  storageHostKindsList,
  storageHostsCheck,
  storageHostsCreate,
  storageHostsList,
  storageHostsRemove,
  storageHostsSetAccess,
  storageHostsSetLocation,
  storageHostsShow,
  storageHostsUpdate,
} from "@/api/generated/sdk.gen";
import type { StorageHostsListData } from "@/api/generated/types.gen";
import type { StorageCheck, StorageHost, StorageHostCreate, StorageHostUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type HostFilter = Pick<NonNullable<StorageHostsListData["query"]>, "q" | "sort">;

/** Storage hosts, paginated, in server order. */
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

/** Storage hosts for select inputs. */
export const hostsChoiceQuery = queryOptions({
  queryKey: ["hosts", "choice"] as const,
  queryFn: () => everyHost({ sort: "name" }),
});

/** The installed storage kinds, with their settings. */
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

/** Updates the given fields of a storage host. */
export const useUpdateHost = () =>
  useChange<{ id: string } & StorageHostUpdate, StorageHost>(
    async ({ id, ...body }) => (await storageHostsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveHost = () =>
  useChange<string, unknown>(async (id) => (await storageHostsRemove({ path: { ref: id } })).data, TOUCHED);

/** Replaces the access list of a storage host. */
export const useSetHostAccess = () =>
  useChange<{ id: string; domains: string[]; projects: string[] }, StorageHost>(
    async ({ id, ...body }) => (await storageHostsSetAccess({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Sets where an engine has a storage host. */
export const useSetHostLocation = () =>
  useChange<{ id: string; engine: string; location: string | null }, StorageHost>(
    async ({ id, engine, location }) =>
      (await storageHostsSetLocation({ path: { ref: id, engine }, body: { location } })).data,
    TOUCHED,
  );

/** Checks whether an engine has a storage host: containers on its nodes exchange files with the server. */
export const useCheckHost = () =>
  useChange<{ id: string; engine: string }, StorageCheck>(
    async ({ id, engine }) => (await storageHostsCheck({ path: { ref: id, engine }, body: {} })).data,
    [],
  );
