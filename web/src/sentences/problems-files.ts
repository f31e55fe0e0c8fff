import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const LOOK = msg`Reload the directory.`;

/** The codes of files and uploads. */
export const FILE_PROBLEMS: Record<string, Sentences> = {
  "file.changed": {
    detail: msg`Someone else has changed the file.`,
    hint: msg`Look at what is there before you write again.`,
  },
  "file.exists": { detail: msg`That name is already taken.`, hint: msg`Choose another name.` },
  "file.inaccessible": { detail: msg`Its permission bits, or those of its directory, do not allow it.` },
  "file.into_itself": { detail: msg`A directory cannot be put into itself.` },
  "file.link_over": {
    detail: msg`The address of the download is over, or none of ours.`,
    hint: msg`Begin the download again.`,
  },
  "file.not_a_directory": { detail: msg`This, or something above it, is no directory.`, hint: LOOK },
  "file.not_a_file": { detail: msg`This is no plain file.` },
  "file.not_found": { detail: msg`It is not there any more.`, hint: LOOK },
  "file.path": { detail: msg`This is no path in a folder.` },
  "file.read_only": { detail: msg`The storage can only be read now.` },
  "file.subvolume": {
    detail: msg`It would go into a subvolume that a session made, or out of one.`,
    hint: msg`Do it in a session, or copy it out of there.`,
  },
  "file.too_large": { detail: msg`The file is larger than it may be.` },
  "file.too_many": {
    detail: msg`Too many items in one request.`,
    hint: msg`Choose fewer, or the directory that holds them.`,
  },
  "file.too_many_transfers": {
    detail: msg`You have as many uploads and downloads open as one person may have.`,
    hint: msg`Wait until one has ended.`,
  },
  "file.server_busy": {
    detail: msg`The server has as many transfers open as it accepts at a time.`,
    hint: msg`Try again in a moment.`,
  },
  "file.range": {
    detail: msg`The file is not as long as that any more.`,
    hint: msg`Begin the download again.`,
  },
  "upload.checksum": { detail: msg`What arrived is not what was sent.` },
  "upload.final": { detail: msg`The upload is put together from parts, and takes no more.` },
  "upload.header": { detail: msg`The program does not speak the upload protocol as it should.` },
  "upload.length": { detail: msg`There is more than the upload was begun for.` },
  "upload.locked": { detail: msg`The upload is being written by another connection.` },
  "upload.not_found": { detail: msg`The upload is over, or was given up.`, hint: msg`Begin it again.` },
  "upload.offset": { detail: msg`The upload is not as far as was thought.` },
  "upload.part_unfinished": { detail: msg`A part of the upload has not arrived.` },
  "upload.too_large": { detail: msg`There is more than the upload was begun for.` },
  "upload.type": { detail: msg`The program does not speak the upload protocol as it should.` },
  "upload.version": { detail: msg`The program speaks another version of the upload protocol.` },
};
