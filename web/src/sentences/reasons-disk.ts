import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** The reasons of sessions that have written much outside their folders. */
export const DISK_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [
    /^It has written (.+) outside its folders, of (.+)\. Delete files or move them to a folder\.$/,
    ([used = "", most = ""]) =>
      msg`It has written ${used} outside its folders, of ${most}. Delete files or move them to a folder.`,
  ],
  [
    /^Its container (\S+) has written (.+) outside its folders, of (.+)\. Delete files or move them to a folder\.$/,
    ([name = "", used = "", most = ""]) =>
      msg`Its container ${name} has written ${used} outside its folders, of ${most}. Delete files or move them to a folder.`,
  ],
  [
    /^It wrote (.+) outside its folders; the limit is (.+)\.$/,
    ([used = "", most = ""]) => msg`It wrote ${used} outside its folders; the limit is ${most}.`,
  ],
  [
    /^Its container (\S+) wrote (.+) outside its folders; the limit is (.+)\.$/,
    ([name = "", used = "", most = ""]) =>
      msg`Its container ${name} wrote ${used} outside its folders; the limit is ${most}.`,
  ],
  [
    /^The disk of its node is nearly full \((.+) free\), and of all sessions there it had written the most outside its folders: (.+)\.$/,
    ([free = "", used = ""]) =>
      msg`The disk of its node is nearly full (${free} free), and of all sessions there it had written the most outside its folders: ${used}.`,
  ],
];
