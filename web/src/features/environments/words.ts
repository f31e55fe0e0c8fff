import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { EnvironmentPush, EnvironmentVersion, SavePreview } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,38}[A-Za-z0-9]$/;
export const VERSION = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,17})?$/;

export const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+|\/)[a-z0-9]+)*$/;
export const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

type VersionState = EnvironmentVersion["state"];

export const VERSION_STATES: Record<VersionState, { title: MessageDescriptor; look: StateLook }> = {
  waiting: { title: msg`waiting`, look: "waiting" },
  running: { title: msg`being made`, look: "working" },
  ready: { title: msg`ready`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  cancelled: { title: msg`cancelled`, look: "cancelled" },
  removing: { title: msg`being deleted`, look: "ending" },
};

export const PUSH_STATES: Record<EnvironmentPush["state"], { title: MessageDescriptor; look: StateLook }> = {
  waiting: { title: msg`waiting`, look: "waiting" },
  running: { title: msg`being pushed`, look: "working" },
  done: { title: msg`pushed`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  cancelled: { title: msg`cancelled`, look: "cancelled" },
};

/** Why a push failed, or is tried again, by its code. The server's text has the details. */
export const PUSH_PROBLEMS: Record<string, MessageDescriptor> = {
  push_denied: msg`The account of the registry may not write there.`,
  push_failed: msg`The image could not be pushed.`,
  push_immutable: msg`The registry does not let the tag be replaced. Choose another tag.`,
  push_name_in_use: msg`The engine has another image of this name. Choose another tag.`,
  push_no_repository: msg`The registry has no such repository, and does not create it. Create it there first.`,
  push_quota: msg`The registry has no room for the image.`,
  push_tls: msg`The engine does not trust the certificate of the registry.`,
  registry_busy: msg`The registry takes no more requests for now.`,
  registry_unavailable: msg`The engine cannot reach the registry.`,
};

export const SAVE_PHASES: Record<string, MessageDescriptor> = {
  copy: msg`Copying its files`,
  read: msg`Leaving out caches and secrets`,
  commit: msg`Writing the image`,
  build: msg`Building`,
};

export const LEFT_OUT: Record<SavePreview["left_out"][number]["kind"], MessageDescriptor> = {
  temporary: msg`Temporary files`,
  caches: msg`Caches`,
  credentials: msg`Credentials`,
  histories: msg`Histories of shells and interpreters`,
};

/** True while it is made. */
export const isMaking = ({ state }: EnvironmentVersion) => state === "waiting" || state === "running";
