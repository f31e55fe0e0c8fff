import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { PolicyKind, Rights } from "@/api/types";
import type { LimitName } from "./limits";

/** Descriptions of the policy kinds. */
export const POLICY_KIND_NAMES: Record<PolicyKind, MessageDescriptor> = {
  keypair: msg`Keypairs`,
  user: msg`Users`,
  project: msg`Projects`,
};

export const KIND_TEXTS: Record<PolicyKind, MessageDescriptor> = {
  keypair: msg`Applies to each keypair, or to each user's actions without a keypair.`,
  user: msg`Applies to each user, across all keypairs.`,
  project: msg`Applies to the folders of each project, and to the rights inside its sessions. Its sessions are also limited by the slot limits of the project.`,
};

export const LIMIT_TITLES: Record<LimitName, MessageDescriptor> = {
  slots: msg`Slots`,
  sessions: msg`Concurrent sessions`,
  pending_slots: msg`Pending slots`,
  pending_sessions: msg`Pending sessions`,
  containers_per_session: msg`Containers per session`,
  lifetime_s: msg`Session lifetime`,
  idle_timeout_s: msg`Idle time-out`,
  idle_use: msg`Idle by utilization`,
  max_priority: msg`Highest priority`,
  storage_hosts: msg`Storage hosts`,
  max_rights: msg`Highest rights`,
  default_disk_bytes: msg`Default disk`,
  max_disk_bytes: msg`Largest disk`,
  folders: msg`Folders`,
  folder_bytes: msg`Total folder size`,
  environment_bytes: msg`Total environment size`,
  log_bytes: msg`Log size`,
};

export const RIGHTS: Record<Rights, MessageDescriptor> = {
  plain: msg`Plain`,
  root: msg`Root inside`,
};

export const LIMIT_TEXTS: Record<LimitName, MessageDescriptor> = {
  slots: msg`The total of all sessions.`,
  sessions: msg`The number of sessions that can hold slots at the same time.`,
  pending_slots: msg`The total that all pending sessions can request.`,
  pending_sessions: msg`The number of sessions that can be pending at the same time.`,
  containers_per_session: msg`Values above 1 allow cluster sessions.`,
  lifetime_s: msg`A session is terminated after this time.`,
  idle_timeout_s: msg`A session is terminated if no app, terminal or command was used for this time.`,
  idle_use: msg`A session is terminated if its utilization stays below all thresholds for the time window.`,
  max_priority: msg`0 to 100. The default is 50.`,
  storage_hosts: msg`The storage hosts on which new folders can be created.`,
  max_rights: msg`Root makes sudo and package managers work inside sessions, on nodes with the capability root-inside.`,
  default_disk_bytes: msg`What each container can write outside its folders, unless the session requests otherwise.`,
  max_disk_bytes: msg`The most that a session can request for each of its containers.`,
  folders: msg`The number of folders, including those in the trash.`,
  folder_bytes: msg`The total of all sessions.`,
  environment_bytes: msg`What all versions of environments add to the images below them.`,
  log_bytes: msg`Kept of the log of each container, compressed: its beginning and its end.`,
};
