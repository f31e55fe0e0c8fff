import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  sharesList,
  vfoldersAccess,
  vfoldersClone,
  vfoldersCreate,
  vfoldersHandOver,
  vfoldersList,
  vfoldersMounts,
  vfoldersMove,
  vfoldersRemove,
  vfoldersRestore,
  vfoldersShow,
  vfoldersTrash,
  vfoldersUpdate,
} from "@/api/generated/sdk.gen";
import type { VfoldersListData } from "@/api/generated/types.gen";
import type { Folder, FolderClone, FolderCreate, FolderTask, FolderUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type FolderFilter = Omit<NonNullable<VfoldersListData["query"]>, "limit" | "cursor">;

/** Folders that the person may see, page by page, in the order of the server. */
export function foldersListQuery(filter: FolderFilter) {
  return infiniteQueryOptions({
    queryKey: ["folders", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await vfoldersList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every folder that the filter finds. */
export const everyFolder = (filter: FolderFilter) =>
  everyPage((cursor) => vfoldersList({ query: { ...filter, limit: 200, cursor } }));

/** The folders to choose from: those that a session of this person can mount. */
export const foldersChoiceQuery = queryOptions({
  queryKey: ["folders", "choice"] as const,
  queryFn: () => everyFolder({ of: "me", mountable: true, sort: "name" }),
});

/** One folder, by id or name. */
export function foldersShowQuery(ref: string) {
  return queryOptions({
    queryKey: ["folders", "show", ref] as const,
    queryFn: async ({ signal }) => (await vfoldersShow({ path: { ref }, signal })).data,
  });
}

/** With whom a folder is shared, those invited too. */
export function folderSharesQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "shares", id] as const,
    queryFn: async ({ signal }) => (await sharesList({ path: { ref: id }, signal })).data.items,
  });
}

/** Everybody who can reach the files of a folder. */
export function folderAccessQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "access", id] as const,
    queryFn: async ({ signal }) => (await vfoldersAccess({ path: { ref: id }, signal })).data.items,
  });
}

/** The live sessions that have a folder. */
export function folderMountsQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "mounts", id] as const,
    queryFn: async ({ signal }) => (await vfoldersMounts({ path: { ref: id }, signal })).data.items,
  });
}

const TOUCHED = ["folders", "quotas", "tasks"];

/** Makes a folder; `key` makes a repeat of the same request return the first. */
export const useCreateFolder = () =>
  useChange<{ key: string } & FolderCreate, Folder>(
    async ({ key, ...body }) => (await vfoldersCreate({ body, headers: { "Idempotency-Key": key } })).data,
    TOUCHED,
  );

/** Changes what is given of a folder. */
export const useUpdateFolder = () =>
  useChange<{ id: string } & FolderUpdate, Folder>(
    async ({ id, ...body }) => (await vfoldersUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useCloneFolder = () =>
  useChange<{ id: string } & FolderClone, Folder>(
    async ({ id, ...body }) => (await vfoldersClone({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useMoveFolder = () =>
  useChange<{ id: string; host: string }, Folder>(
    async ({ id, host }) => (await vfoldersMove({ path: { ref: id }, body: { host } })).data,
    TOUCHED,
  );

/** Gives a folder to a person or to a project. */
export const useHandOverFolder = () =>
  useChange<{ id: string; user?: string; project?: string }, Folder>(
    async ({ id, ...body }) => (await vfoldersHandOver({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useTrashFolder = () =>
  useChange<string, Folder>(async (id) => (await vfoldersTrash({ path: { ref: id } })).data, TOUCHED);

export const useRestoreFolder = () =>
  useChange<string, Folder>(async (id) => (await vfoldersRestore({ path: { ref: id } })).data, TOUCHED);

/** Deletes a folder in the trash for good; its name says once more that it is meant. */
export const useRemoveFolder = () =>
  useChange<{ id: string; name: string }, FolderTask>(
    async ({ id, name }) => (await vfoldersRemove({ path: { ref: id }, query: { name } })).data,
    TOUCHED,
  );
