import {
  vfoldersClone,
  vfoldersCreate,
  vfoldersHandOver,
  vfoldersMove,
  vfoldersRemove,
  vfoldersRestore,
  vfoldersTrash,
  vfoldersUpdate,
} from "@/api/generated/sdk.gen";
import type { Folder, FolderClone, FolderCreate, FolderTask, FolderUpdate } from "@/api/types";
import { useChange } from "./use-change";

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
