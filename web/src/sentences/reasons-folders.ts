import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Why a folder cannot be mounted. */
export const FOLDER_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] =
  [
    [
      /^It is waiting for the storage host (\S+), which does not respond\.$/,
      ([host = ""]) => msg`It is waiting for the storage host ${host}, which does not respond.`,
    ],
    [
      /^The folder (\S+) on the storage host (\S+) cannot be reached\./,
      ([folder = "", host = ""]) => msg`The folder ${folder} on the storage host ${host} cannot be reached.`,
    ],
    [
      /^The engine cannot reach the storage host (\S+)\.$/,
      ([host = ""]) => msg`The engine cannot reach the storage host ${host}.`,
    ],
    [
      /^The directory (\S+), which is to be mounted, is not on the (?:node|engine's machine)\.$/,
      ([directory = ""]) => msg`The directory ${directory}, which is to be mounted, is not on the node.`,
    ],
    [
      /^The directory (.+), which is to be mounted, is not in the volume\.$/,
      ([directory = ""]) => msg`The directory ${directory}, which is to be mounted, is not in the volume.`,
    ],
    [
      /^A folder cannot be mounted on the node: (.+)\.$/,
      ([detail = ""]) => msg`A folder cannot be mounted on the node: ${detail}.`,
    ],
    [
      /^The folder (\S+) has no directory (.+) that can be mounted\.$/,
      ([folder = "", directory = ""]) =>
        msg`The folder ${folder} has no directory ${directory} that can be mounted.`,
    ],
  ];
