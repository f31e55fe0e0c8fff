import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";

const SENTENCES: Record<string, MessageDescriptor> = {
  out_of_memory: msg`It ran out of memory, and a program in it was killed. Start one with more memory, or use less.`,
  folders_left_out: msg`It started without folders that come by themselves: their storage did not answer.`,
  folders_read_only: msg`The folders that come by themselves can only be read in it: the quota for folders is used up.`,
};

/** The sentence for a session's warning; a word we do not know stays as it is. */
export function useWarningText(): (warning: string) => string {
  const { i18n } = useLingui();
  return (warning) => {
    const sentence = SENTENCES[warning];
    return sentence ? i18n._(sentence) : warning;
  };
}
