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

/** Offers a folder to people and projects; the answer says of each whether it could be. */
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

/** Gives up a folder that somebody shares with this person. */
export const useLeaveFolder = () =>
  useChange<string, unknown>(async (id) => (await sharesLeave({ path: { ref: id } })).data, TOUCHED);
