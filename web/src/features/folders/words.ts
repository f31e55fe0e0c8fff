import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AccessEntry, Folder, FolderTask, Permission, Quota, StorageHost, UsageMode } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

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

export const FOLDER_STATES: Record<Folder["state"], { title: MessageDescriptor; look: StateLook }> = {
  CREATING: { title: msg`being created`, look: "preparing" },
  COPYING: { title: msg`being copied`, look: "working" },
  READY: { title: msg`ready`, look: "ok" },
  MOVING: { title: msg`being moved`, look: "working" },
  TRASHED: { title: msg`in the trash`, look: "deleted" },
  DELETING: { title: msg`being deleted`, look: "working" },
  FAILED: { title: msg`failed`, look: "failed" },
};

export const TASK_KINDS: Record<FolderTask["kind"], MessageDescriptor> = {
  clone: msg`Clone`,
  move: msg`Move to another host`,
  remove: msg`Delete permanently`,
  copy: msg`Copy files`,
  clean: msg`Reclaim space of deleted files`,
};

export const TASK_STATES: Record<FolderTask["state"], { title: MessageDescriptor; look: StateLook }> = {
  waiting: { title: msg`waiting`, look: "waiting" },
  running: { title: msg`running`, look: "working" },
  done: { title: msg`done`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  cancelled: { title: msg`cancelled`, look: "cancelled" },
};

export const USAGE_LEVELS: Record<
  StorageHost["level"] | Quota["level"],
  { title: MessageDescriptor; look: StateLook }
> = {
  adequate: { title: msg`adequate`, look: "ok" },
  caution: { title: msg`caution`, look: "warning" },
  insufficient: { title: msg`insufficient`, look: "failed" },
  unknown: { title: msg`unknown`, look: "unknown" },
};

export const WAYS: Record<AccessEntry["via"], MessageDescriptor> = {
  owner: msg`owner`,
  share: msg`shared with the user`,
  project: msg`project member`,
  shared_project: msg`shared with the project`,
};
