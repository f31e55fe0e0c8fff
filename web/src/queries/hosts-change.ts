import {
  storageHostsCreate,
  storageHostsRemove,
  storageHostsSetAccess,
  storageHostsUpdate,
} from "@/api/generated/sdk.gen";
import type { StorageHost, StorageHostCreate, StorageHostUpdate } from "@/api/types";
import { useChange } from "./use-change";

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
