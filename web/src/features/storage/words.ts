import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { StorageHost } from "@/api/types";

/** What the kinds of storage that Carrel brings are called; others have the words of their plug-ins. */
export const BACKENDS: Readonly<Record<string, { title: MessageDescriptor; text: MessageDescriptor }>> = {
  posix: {
    title: msg`Directory`,
    text: msg`Any mounted file system: ext4, XFS, NFS, CephFS and others. Quotas are measured, not enforced while a session writes.`,
  },
  btrfs: {
    title: msg`Btrfs`,
    text: msg`Quotas are enforced at once, in sessions too; clones are instant.`,
  },
};

export const HOST_STATES: Record<
  StorageHost["state"],
  { title: MessageDescriptor; tone: "good" | "busy" | "bad" | "quiet" }
> = {
  ok: { title: msg`answers`, tone: "good" },
  unknown: { title: msg`not looked at yet`, tone: "quiet" },
  unavailable: { title: msg`does not answer`, tone: "bad" },
  unusable: { title: msg`cannot be used`, tone: "bad" },
};
