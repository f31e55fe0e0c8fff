import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const ASK = msg`Ask an administrator.`;
const ASK_OWNER = msg`Ask its owner for more.`;

/** Error codes of folders, shares, storage hosts and mounts. */
export const FOLDER_PROBLEMS: Record<string, Sentences> = {
  "invitation.not_found": { detail: msg`There is no such invitation, or it was revoked.` },
  "mount.overlap": {
    detail: msg`The mount paths of two folders are equal or nested.`,
    hint: msg`Choose another path for one of them.`,
  },
  "mount.path": {
    detail: msg`The mount path is invalid or a system path of the session.`,
    hint: msg`Choose a path below /home/work.`,
  },
  "mount.subpath": { detail: msg`This is not a valid directory of a folder.` },
  "project.has_folders": {
    detail: msg`The project still has folders.`,
    hint: msg`Transfer or permanently delete them first, or archive the project.`,
  },
  "project.has_schedules": {
    detail: msg`The project still has schedules of recurring sessions.`,
    hint: msg`Delete them first, or archive the project.`,
  },
  "quota.bytes": {
    detail: msg`The quota for folders is used up.`,
    hint: msg`Delete files, permanently if they are in the trash, or ask an administrator for more.`,
  },
  "quota.folders": {
    detail: msg`The limit of folders is reached, including those in the trash.`,
    hint: msg`Permanently delete one, or ask an administrator for more.`,
  },
  "quota.not_found": { detail: msg`User or project not found.` },
  "share.accepted": { detail: msg`You have already accepted the folder.`, hint: msg`Leave it instead.` },
  "share.exists": { detail: msg`They already have the folder, or are already invited.` },
  "share.level": {
    detail: msg`You may not use this session yourself, so you can only let others look at it.`,
    hint: msg`Its owner can share its use.`,
  },
  "share.expiry": { detail: msg`A link needs an expiry of at most 30 days.` },
  "share.no_link": {
    detail: msg`This link does not work: it is wrong, has expired or was revoked.`,
    hint: msg`Ask the person who sent it for another one.`,
  },
  "share.no_such_person": {
    detail: msg`There is no such user with whom sessions can be shared.`,
    hint: msg`They need an active account in the same domain. Ask them or an administrator.`,
  },
  "share.not_found": { detail: msg`It is not shared with them.` },
  "share.other_domain": { detail: msg`The project is in another domain.` },
  "share.recipient": {
    detail: msg`A session is shared with a user, with a project, or by a link.`,
    hint: msg`Specify exactly one of them.`,
  },
  "share.revoked": {
    detail: msg`This session is no longer shared with you for this.`,
    hint: msg`Ask its owner to share it again.`,
  },
  "share.not_personal": {
    detail: msg`The session is not shared with you personally, so you cannot leave it.`,
    hint: msg`It is your own, you administer it, or it is shared with one of your projects.`,
  },
  "share.not_yours": { detail: msg`The folder is not shared with you personally.` },
  "share.own": { detail: msg`It already belongs to them.` },
  "storage.busy": { detail: msg`These files keep changing.`, hint: msg`Try again in a moment.` },
  "storage.error": { detail: msg`The storage reported an error.`, hint: ASK },
  "storage.full": { detail: msg`The storage host is full.`, hint: ASK },
  "storage.over_quota": {
    detail: msg`The quota for folders is used up.`,
    hint: msg`Delete files, permanently if they are in the trash, or ask an administrator for more.`,
  },
  "storage.unusable": { detail: msg`The storage responds but cannot be used.`, hint: ASK },
  "storage.unavailable": {
    detail: msg`The storage does not respond.`,
    hint: msg`Try again in a moment; other folders may still work.`,
  },
  "storage_host.in_use": {
    detail: msg`The storage host still has folders.`,
    hint: msg`Move them to another storage host, or deactivate this one.`,
  },
  "storage_host.inactive": { detail: msg`The storage host accepts no new folders.` },
  "storage_host.location": {
    detail: msg`The engine cannot mount this location.`,
    hint: msg`Enter a path on its nodes, or the address of a volume.`,
  },
  "storage_host.name_taken": { detail: msg`A storage host with that name already exists.` },
  "storage_host.no_image": { detail: msg`A check needs an image in the catalogue.`, hint: ASK },
  "storage_host.no_node": { detail: msg`The engine has no node that takes containers.` },
  "storage_host.none": { detail: msg`You have access to no storage host.`, hint: ASK },
  "storage_host.not_found": { detail: msg`Storage host not found.` },
  "storage_host.root_refused": { detail: msg`This directory cannot be the root of a storage host.` },
  "storage_host.root_taken": { detail: msg`The directory overlaps the root of another storage host.` },
  "storage_host.unusable": { detail: msg`The storage host cannot use this directory.` },
  "user.folders": {
    detail: msg`Folders can be transferred or deleted, not both.`,
  },
  "user.has_folders": { detail: msg`The user has folders: choose a new owner, or delete them.` },
  "vfolder.ambiguous": { detail: msg`Several folders have that name.`, hint: msg`Use the id.` },
  "vfolder.automatic": {
    detail: msg`A folder whose name begins with a dot is mounted automatically and cannot be shared or transferred.`,
    hint: msg`Rename it first.`,
  },
  "vfolder.automatic_of_project": {
    detail: msg`The name of a project folder cannot begin with a dot.`,
  },
  "vfolder.busy": {
    detail: msg`The folder is being copied or moved.`,
    hint: msg`Wait until the folder is ready.`,
  },
  "vfolder.heir": { detail: msg`Specify either a user or a project.` },
  "vfolder.is_theirs": { detail: msg`The folder already belongs to them.` },
  "vfolder.is_there": { detail: msg`The folder is already on that storage host.` },
  "vfolder.mounted": { detail: msg`The folder is mounted in live sessions.`, hint: msg`End them first.` },
  "vfolder.name_taken": {
    detail: msg`A folder with that name already exists.`,
    hint: msg`Choose another name.`,
  },
  "vfolder.no_such_person": {
    detail: msg`No active user of the folder's domain has that e-mail.`,
    hint: msg`Check the spelling.`,
  },
  "vfolder.not_found": { detail: msg`Folder not found.` },
  "vfolder.not_trashed": {
    detail: msg`Only folders in the trash can be permanently deleted.`,
    hint: msg`Move it to the trash first.`,
  },
  "vfolder.other_domain": { detail: msg`The project is in another domain.` },
  "vfolder.permission": { detail: msg`Your permission on the folder does not allow this.`, hint: ASK_OWNER },
  "vfolder.shared": { detail: msg`The folder is shared, so its name cannot begin with a dot.` },
  "vfolder.state": {
    detail: msg`The folder cannot be used now.`,
    hint: msg`Wait until it is ready, or restore it.`,
  },
  "vfolder.unconfirmed": { detail: msg`The confirmation does not match the folder's name.` },
  "vfolder_task.not_cancellable": { detail: msg`The task can no longer be cancelled.` },
  "vfolder_task.not_found": { detail: msg`Task not found.` },
};
