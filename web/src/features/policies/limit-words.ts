import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { PolicyKind } from "@/api/types";
import type { LimitName } from "./limits";

/** What each kind of policy is for. */
export const KINDS: Record<PolicyKind, MessageDescriptor> = {
  keypair: msg`Keypairs`,
  user: msg`Users`,
  project: msg`Projects`,
};

export const KIND_TEXTS: Record<PolicyKind, MessageDescriptor> = {
  keypair: msg`Holds for everything that is done by one keypair, or by one person without any.`,
  user: msg`Holds for one person, by whichever keypair.`,
  project: msg`Holds for the folders of a project. What its sessions hold is limited by its ceilings.`,
};

export const LIMIT_TITLES: Record<LimitName, MessageDescriptor> = {
  slots: msg`Slots`,
  sessions: msg`Sessions at once`,
  pending_slots: msg`Slots waited for`,
  pending_sessions: msg`Waiting sessions`,
  containers_per_session: msg`Containers of a session`,
  lifetime_s: msg`Lifetime of a session`,
  idle_timeout_s: msg`Idle time-out`,
  idle_use: msg`Little use`,
  max_priority: msg`Highest priority`,
  storage_hosts: msg`Storage hosts`,
  folders: msg`Folders`,
  folder_bytes: msg`Size of all folders`,
};

export const LIMIT_TEXTS: Record<LimitName, MessageDescriptor> = {
  slots: msg`What all sessions may hold together.`,
  sessions: msg`How many may hold slots at once.`,
  pending_slots: msg`What all waiting sessions may ask for together.`,
  pending_sessions: msg`How many may wait at once.`,
  containers_per_session: msg`More than one makes a cluster session.`,
  lifetime_s: msg`A session ends by itself after so long.`,
  idle_timeout_s: msg`A session ends when no app, terminal or command of it was used for so long.`,
  idle_use: msg`A session ends when it used less than each of these of what it holds, in every minute for so long.`,
  max_priority: msg`0 to 100; 50 is everybody's.`,
  storage_hosts: msg`On which of those that are open to them new folders may be kept.`,
  folders: msg`How many they may own, those in the trash too.`,
  folder_bytes: msg`What all of them may hold together.`,
};
