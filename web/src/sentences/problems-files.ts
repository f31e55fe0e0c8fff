import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const LOOK = msg`Reload the directory.`;

/** Error codes of files and uploads. */
export const FILE_PROBLEMS: Record<string, Sentences> = {
  "file.changed": {
    detail: msg`The file has changed or no longer exists.`,
    hint: msg`Reload it and reapply your changes.`,
  },
  "file.exists": {
    detail: msg`A file or directory with that name already exists.`,
    hint: msg`Choose another name.`,
  },
  "file.inaccessible": { detail: msg`The permissions of the file or of its directory deny access.` },
  "file.into_itself": { detail: msg`A directory cannot be moved into itself.` },
  "file.link_over": {
    detail: msg`The download link is invalid or expired.`,
    hint: msg`Start the download again.`,
  },
  "file.not_a_directory": { detail: msg`This path or one of its parents is not a directory.`, hint: LOOK },
  "file.not_a_file": { detail: msg`This is not a regular file.` },
  "file.not_found": { detail: msg`The file or directory no longer exists.`, hint: LOOK },
  "file.path": { detail: msg`This is not a valid path.` },
  "file.read_only": { detail: msg`The storage is currently read-only.` },
  "file.subvolume": {
    detail: msg`It cannot be moved into or out of a subvolume that a session created.`,
    hint: msg`Move it in a session, or copy it.`,
  },
  "file.too_large": { detail: msg`The file exceeds the size limit.` },
  "file.too_many": {
    detail: msg`Too many items in one request.`,
    hint: msg`Choose their directory, or fewer items.`,
  },
  "file.too_many_transfers": {
    detail: msg`You have reached your limit of transfers.`,
    hint: msg`Wait until one of them ends.`,
  },
  "file.server_busy": {
    detail: msg`The server has reached its limit of transfers.`,
    hint: msg`Try again in a moment.`,
  },
  "file.range": {
    detail: msg`The range starts beyond the end of the file.`,
    hint: msg`Start the download again.`,
  },
  "upload.checksum": { detail: msg`The checksum does not match the received data.` },
  "upload.final": { detail: msg`The upload was concatenated from parts and accepts no more data.` },
  "upload.header": { detail: msg`The upload request is invalid.` },
  "upload.length": { detail: msg`The upload is larger than declared or allowed.` },
  "upload.locked": { detail: msg`Another request is sending this upload.` },
  "upload.not_found": { detail: msg`The upload has ended or was cancelled.`, hint: msg`Start it again.` },
  "upload.offset": { detail: msg`The upload does not continue where it stopped.` },
  "upload.part_unfinished": { detail: msg`A part of the upload is incomplete.` },
  "upload.too_large": { detail: msg`The upload is larger than declared or allowed.` },
  "upload.type": { detail: msg`The upload request is invalid.` },
  "upload.version": { detail: msg`The client uses another version of the upload protocol.` },
};
