import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";

const SENTENCES: Record<string, MessageDescriptor> = {
  out_of_memory: msg`Out of memory: a program was killed. Use less memory, or start a session with more.`,
  disk_nearly_full: msg`The disk is nearly full. Delete files or move them to a folder; the session is terminated if it exceeds its limit. The history has the figures.`,
  node_leaving: msg`Its node is about to be taken away. Move files to a mounted folder now; the history has the reason.`,
  device_unhealthy: msg`An accelerator of it is out of order. Save your work; the history has the problem.`,
  container_failed: msg`A container failed. The session continues without it; the history has the reason.`,
  folders_left_out: msg`Auto-mounted folders are not mounted: their storage was not available.`,
  folders_read_only: msg`Auto-mounted folders are mounted read-only: the folder quota is exceeded.`,
};

/** The message for a session's warning; an unknown code is shown as it is. */
export function useWarningText(): (warning: string) => string {
  const { i18n } = useLingui();
  return (warning) => {
    const sentence = SENTENCES[warning];
    return sentence ? i18n._(sentence) : warning;
  };
}
