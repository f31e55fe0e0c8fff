import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** Reasons of sessions that leave their node, or will. */
export const NODE_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [/^Its node is lost\.$/, () => msg`Its node is lost.`],
  [
    /^Its node is lost: it is requeued/,
    () =>
      msg`Its node is lost: it is requeued and restarts on another node, without the files outside mounted folders.`,
  ],
  [/^Its container was evicted from (.+)\.$/, ([node = ""]) => msg`Its container was evicted from ${node}.`],
  [
    /^Containers of it were evicted from (.+)\.$/,
    ([nodes = ""]) => msg`Containers of it were evicted from ${nodes}.`,
  ],
  [
    /^It is requeued and restarts on another node, without the files outside mounted folders\.$/,
    () => msg`It is requeued and restarts on another node, without the files outside mounted folders.`,
  ],
  [
    /^Its node (\S+) is about to be taken away \((\S+)\)\.$/,
    ([node = "", notice = ""]) => msg`Its node ${node} is about to be taken away (${notice}).`,
  ],
  [
    /^Its accelerator (.+) on (\S+) is out of order: (.+)$/,
    ([device = "", node = "", problem = ""]) =>
      msg`Its accelerator ${device} on ${node} is out of order: ${problem}`,
  ],
  [
    /^Files outside mounted folders are lost with it\.$/,
    () => msg`Files outside mounted folders are lost with it.`,
  ],
];
