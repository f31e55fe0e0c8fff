import { sharesCreate, sharesLeave, sharesRemove, sharesUpdate } from "@/api/generated/sdk.gen";
import type { Permission, ShareChanged, SharesAdded } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["folders"];

interface ShareRequest {
  folder: string;
  users: string[];
  projects: string[];
  permission: Permission;
}

/** Shares a folder with users and projects; the response has a result for each. */
export const useShareFolder = () =>
  useChange<ShareRequest, SharesAdded>(
    async ({ folder, ...body }) => (await sharesCreate({ path: { ref: folder }, body })).data,
    TOUCHED,
  );

export const useChangeShare = () =>
  useChange<{ folder: string; share: string; permission: Permission }, ShareChanged>(
    async ({ folder, share, permission }) =>
      (await sharesUpdate({ path: { ref: folder, share }, body: { permission } })).data,
    TOUCHED,
  );

export const useRevokeShare = () =>
  useChange<{ folder: string; share: string }, ShareChanged>(
    async ({ folder, share }) => (await sharesRemove({ path: { ref: folder, share } })).data,
    TOUCHED,
  );

/** Leaves a shared folder. */
export const useLeaveFolder = () =>
  useChange<string, unknown>(async (id) => (await sharesLeave({ path: { ref: id } })).data, TOUCHED);
