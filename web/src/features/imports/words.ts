import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { ImportWarning, SourceKind } from "@/api/generated/types.gen";
import type { ImportLink } from "@/routing/import-link";
import { commandLine } from "@/ui/command";

export const KIND_NAMES: Record<SourceKind, MessageDescriptor> = {
  notebook: msg`Notebook`,
  git: msg`Git repository`,
  archive: msg`Archive`,
  model: msg`Hugging Face model`,
  dataset: msg`Hugging Face dataset`,
  space: msg`Hugging Face Space`,
};

export const WARNINGS: Record<ImportWarning, MessageDescriptor> = {
  guessed: msg`Nothing in the address tells that this is a Git repository. If it is something else, choose it under Type.`,
  plain_http: msg`The connection is not encrypted: others may read and change what is fetched.`,
  query_kept: msg`The script contains the parameters of the address. If they are secret, use a token instead.`,
  ref_unused: msg`This source has no branches, tags or commits.`,
  path_unused: msg`This source is one file, without paths within it.`,
  install_unused: msg`Requirements are installed only for a source with several files, into a session.`,
  key_needed: msg`An SSH address opens with a key only.`,
};

/** The same import on the command line. */
export function importCommand(link: ImportLink, folder: string): string {
  const { url = "", kind, ref, path, install, credentials } = link;
  return commandLine(
    "carrel",
    "import",
    url,
    ...(kind ? ["--kind", kind] : []),
    ...(ref ? ["--ref", ref] : []),
    ...(path ? ["--path", path] : []),
    ...(folder ? ["--folder", folder] : []),
    ...(install ? ["--install"] : []),
    ...(credentials === "token" ? ["--token-file", "token.txt"] : []),
    ...(credentials === "key" ? ["--key-file", "key"] : []),
  );
}
