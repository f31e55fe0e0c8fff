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

/** Folders that the user may see, paginated, in server order. */
export function foldersListQuery(filter: FolderFilter) {
  return infiniteQueryOptions({
    queryKey: ["folders", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await vfoldersList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All folders that match the filter. */
export const everyFolder = (filter: FolderFilter) =>
  everyPage((cursor) => vfoldersList({ query: { ...filter, limit: 200, cursor } }));

/** Folders for select inputs: those that the user's sessions can mount. */
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

/** The shares of a folder, including invitations. */
export function folderSharesQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "shares", id] as const,
    queryFn: async ({ signal }) => (await sharesList({ path: { ref: id }, signal })).data.items,
  });
}

/** The users with access to a folder. */
export function folderAccessQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "access", id] as const,
    queryFn: async ({ signal }) => (await vfoldersAccess({ path: { ref: id }, signal })).data.items,
  });
}

/** The live sessions that mount a folder. */
export function folderMountsQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "mounts", id] as const,
    queryFn: async ({ signal }) => (await vfoldersMounts({ path: { ref: id }, signal })).data.items,
  });
}

const TOUCHED = ["folders", "quotas", "tasks"];

/** Creates a folder; `key` makes a retry return the first one. */
export const useCreateFolder = () =>
  useChange<{ key: string } & FolderCreate, Folder>(
    async ({ key, ...body }) => (await vfoldersCreate({ body, headers: { "Idempotency-Key": key } })).data,
    TOUCHED,
  );

/** Updates the given fields of a folder. */
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

/** Transfers a folder to a user or project. */
export const useHandOverFolder = () =>
  useChange<{ id: string; user?: string; project?: string }, Folder>(
    async ({ id, ...body }) => (await vfoldersHandOver({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useTrashFolder = () =>
  useChange<string, Folder>(async (id) => (await vfoldersTrash({ path: { ref: id } })).data, TOUCHED);

export const useRestoreFolder = () =>
  useChange<string, Folder>(async (id) => (await vfoldersRestore({ path: { ref: id } })).data, TOUCHED);

/** Deletes a folder in the trash permanently; its name confirms the intent. */
export const useRemoveFolder = () =>
  useChange<{ id: string; name: string }, FolderTask>(
    async ({ id, name }) => (await vfoldersRemove({ path: { ref: id }, query: { name } })).data,
    TOUCHED,
  );
