import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { StorageHost } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

/** Texts of the built-in storage kinds; plug-ins bring their own. */
export const BACKENDS: Readonly<Record<string, { title: MessageDescriptor; text: MessageDescriptor }>> = {
  posix: {
    title: msg`Directory`,
    text: msg`Any mounted file system, such as ext4, XFS, NFS or CephFS. Quotas are measured, but not enforced on writes in sessions.`,
  },
  btrfs: {
    title: msg`Btrfs`,
    text: msg`Quotas are enforced immediately, also in sessions. Clones are instant.`,
  },
};

export const HOST_STATES: Record<StorageHost["state"], { title: MessageDescriptor; look: StateLook }> = {
  ok: { title: msg`online`, look: "ok" },
  unknown: { title: msg`not checked yet`, look: "unknown" },
  unavailable: { title: msg`offline`, look: "down" },
  unusable: { title: msg`cannot be used`, look: "failed" },
};
