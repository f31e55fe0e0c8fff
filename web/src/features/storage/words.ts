import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { StorageHost } from "@/api/types";

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

export const HOST_STATES: Record<
  StorageHost["state"],
  { title: MessageDescriptor; tone: "good" | "busy" | "bad" | "quiet" }
> = {
  ok: { title: msg`online`, tone: "good" },
  unknown: { title: msg`not checked yet`, tone: "quiet" },
  unavailable: { title: msg`offline`, tone: "bad" },
  unusable: { title: msg`cannot be used`, tone: "bad" },
};
