import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const ASK = msg`Ask an administrator.`;
const ASK_OWNER = msg`Ask its owner for more.`;

/** The codes of folders, whom they are shared with, storage hosts, and folders in sessions. */
export const FOLDER_PROBLEMS: Record<string, Sentences> = {
  "invitation.not_found": { detail: msg`There is no such invitation for you.` },
  "mount.overlap": {
    detail: msg`Two folders would be at one path, or one in the other.`,
    hint: msg`Choose another path for one of them.`,
  },
  "mount.path": {
    detail: msg`No folder can be there: the path belongs to the system of the session, or is none.`,
    hint: msg`Choose a path below /home/work.`,
  },
  "mount.subpath": { detail: msg`That is not the name of a directory of a folder.` },
  "project.has_folders": {
    detail: msg`The project still has folders.`,
    hint: msg`Hand them over or delete them for good first.`,
  },
  "quota.bytes": {
    detail: msg`There is no room left: this is as much as may be kept in folders.`,
    hint: msg`Delete something, for good if it is in the trash, or ask an administrator for more.`,
  },
  "quota.folders": {
    detail: msg`There are as many folders as there may be, those in the trash too.`,
    hint: msg`Delete one for good, or ask an administrator for more.`,
  },
  "quota.not_found": { detail: msg`There is no such person or project.` },
  "share.accepted": { detail: msg`You have already accepted it.`, hint: msg`Leave it instead.` },
  "share.exists": { detail: msg`They have it, or were invited already.` },
  "share.not_found": { detail: msg`The folder is not shared with them.` },
  "share.not_yours": { detail: msg`Nobody shares it with you alone: it is yours, or your project's.` },
  "share.own": { detail: msg`It is theirs to begin with.` },
  "storage.busy": { detail: msg`These files keep changing.`, hint: msg`Try again in a moment.` },
  "storage.error": { detail: msg`The storage refused this.`, hint: ASK },
  "storage.full": { detail: msg`The storage is full, for everybody.`, hint: ASK },
  "storage.over_quota": {
    detail: msg`There is no room left: this is as much as may be kept in folders.`,
    hint: msg`Delete something, for good if it is in the trash, or ask an administrator for more.`,
  },
  "storage.unusable": { detail: msg`The storage answers, and cannot be used now.`, hint: ASK },
  "storage.unavailable": {
    detail: msg`The storage does not answer.`,
    hint: msg`Try again in a moment; other folders may be well.`,
  },
  "storage_host.in_use": {
    detail: msg`The storage host still keeps folders.`,
    hint: msg`Move them to another one first.`,
  },
  "storage_host.inactive": { detail: msg`The storage host takes no new folders.` },
  "storage_host.name_taken": { detail: msg`A storage host with that name already exists.` },
  "storage_host.none": { detail: msg`There is no storage host that you may use now.`, hint: ASK },
  "storage_host.not_found": { detail: msg`There is no such storage host that you may use.` },
  "storage_host.root_refused": { detail: msg`This directory cannot be the root of a storage host.` },
  "storage_host.root_taken": { detail: msg`Another storage host has this directory, or one in it.` },
  "storage_host.unusable": { detail: msg`This directory cannot be used to keep folders.` },
  "user.folders": {
    detail: msg`Say one thing about their folders: who gets them, or that they are deleted.`,
  },
  "user.has_folders": { detail: msg`They have folders: say what becomes of them.` },
  "vfolder.ambiguous": { detail: msg`Several folders have that name.`, hint: msg`Use the id.` },
  "vfolder.automatic": {
    detail: msg`A folder whose name begins with a dot is mounted by itself, and cannot be shared or handed over.`,
    hint: msg`Rename it first.`,
  },
  "vfolder.automatic_of_project": {
    detail: msg`The folder of a project cannot have a name that begins with a dot.`,
  },
  "vfolder.busy": {
    detail: msg`The folder is being copied or moved.`,
    hint: msg`Wait until the folder is ready.`,
  },
  "vfolder.heir": { detail: msg`Say either a person or a project.` },
  "vfolder.is_theirs": { detail: msg`It is theirs already.` },
  "vfolder.is_there": { detail: msg`It is on that storage host already.` },
  "vfolder.mounted": { detail: msg`Live sessions have the folder.`, hint: msg`End them first.` },
  "vfolder.name_taken": {
    detail: msg`A folder with that name already exists.`,
    hint: msg`Choose another name.`,
  },
  "vfolder.no_such_person": {
    detail: msg`Nobody active in the folder's domain has that e-mail.`,
    hint: msg`Check the spelling.`,
  },
  "vfolder.not_found": { detail: msg`Folder not found.` },
  "vfolder.not_trashed": {
    detail: msg`Only what is in the trash can be deleted for good.`,
    hint: msg`Move it to the trash first.`,
  },
  "vfolder.other_domain": { detail: msg`The project is in another domain than the folder.` },
  "vfolder.permission": { detail: msg`You may not do this with the files of the folder.`, hint: ASK_OWNER },
  "vfolder.shared": { detail: msg`The folder is shared, so its name cannot begin with a dot.` },
  "vfolder.state": {
    detail: msg`The folder cannot be used now.`,
    hint: msg`Wait until it is ready, or restore it.`,
  },
  "vfolder.unconfirmed": { detail: msg`The name that was typed is not the folder's.` },
  "vfolder_task.not_cancellable": { detail: msg`It runs to completion.` },
  "vfolder_task.not_found": { detail: msg`Task not found.` },
};
