import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AccessEntry, Folder, FolderTask, Permission, Quota, StorageHost, UsageMode } from "@/api/types";

/** The permissions on the files of a folder; each includes the previous ones. */
export const PERMISSIONS: Record<Permission, { title: MessageDescriptor; text: MessageDescriptor }> = {
  ro: { title: msg`Read`, text: msg`View and download files; mount read-only.` },
  rw: { title: msg`Read and write`, text: msg`Read, upload, edit, rename and move files.` },
  "rw-delete": { title: msg`Read, write and delete`, text: msg`Read, write and delete files.` },
};

export const PERMISSION_ORDER: readonly Permission[] = ["ro", "rw", "rw-delete"];

/** Whether one permission includes another. */
export const permits = (held: Permission | null | undefined, needed: Permission): boolean =>
  held != null && PERMISSION_ORDER.indexOf(held) >= PERMISSION_ORDER.indexOf(needed);

export const USAGE_MODE_NAMES: Record<UsageMode, MessageDescriptor> = {
  general: msg`General`,
  model: msg`Models`,
  data: msg`Data sets`,
};

export const FOLDER_STATES: Record<
  Folder["state"],
  { title: MessageDescriptor; tone: "good" | "busy" | "bad" | "quiet" }
> = {
  CREATING: { title: msg`being created`, tone: "busy" },
  COPYING: { title: msg`being copied`, tone: "busy" },
  READY: { title: msg`ready`, tone: "good" },
  MOVING: { title: msg`being moved`, tone: "busy" },
  TRASHED: { title: msg`in the trash`, tone: "quiet" },
  DELETING: { title: msg`being deleted`, tone: "busy" },
  FAILED: { title: msg`failed`, tone: "bad" },
};

export const TASK_KINDS: Record<FolderTask["kind"], MessageDescriptor> = {
  clone: msg`Clone`,
  move: msg`Move to another host`,
  remove: msg`Delete permanently`,
  copy: msg`Copy files`,
  clean: msg`Reclaim space of deleted files`,
};

export const TASK_STATES: Record<
  FolderTask["state"],
  { title: MessageDescriptor; tone: "good" | "busy" | "bad" | "quiet" }
> = {
  waiting: { title: msg`waiting`, tone: "quiet" },
  running: { title: msg`running`, tone: "busy" },
  done: { title: msg`done`, tone: "good" },
  failed: { title: msg`failed`, tone: "bad" },
  cancelled: { title: msg`cancelled`, tone: "quiet" },
};

export const LEVELS: Record<
  StorageHost["level"] | Quota["level"],
  { title: MessageDescriptor; tone: "good" | "busy" | "bad" | "quiet" }
> = {
  adequate: { title: msg`adequate`, tone: "good" },
  caution: { title: msg`caution`, tone: "busy" },
  insufficient: { title: msg`insufficient`, tone: "bad" },
  unknown: { title: msg`unknown`, tone: "quiet" },
};

export const WAYS: Record<AccessEntry["via"], MessageDescriptor> = {
  owner: msg`owner`,
  share: msg`shared with the user`,
  project: msg`project member`,
  shared_project: msg`shared with the project`,
};
