import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

type Message = (words: string[]) => MessageDescriptor;

/** The sentence with these parts in place of each `…`; none of them ends a sentence. */
function pattern(sentence: string): RegExp {
  const escaped = sentence.replace(/[.()]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("…", "((?:(?!\\. [A-Z]).)+)")}$`);
}

/** What a Kubernetes cluster reports about a session. */
const SENTENCES: readonly [sentence: string, message: Message][] = [
  ["The cluster does not place it: ….", ([why = ""]) => msg`The cluster does not place it: ${why}.`],
  [
    "The cluster's autoscaler is adding a machine for it.",
    () => msg`The cluster's autoscaler is adding a machine for it.`,
  ],
  [
    "The cluster's autoscaler adds no machine for it: ….",
    ([why = ""]) => msg`The cluster's autoscaler adds no machine for it: ${why}.`,
  ],
  ["Its node cannot mount a volume: ….", ([why = ""]) => msg`Its node cannot mount a volume: ${why}.`],
  [
    "A volume cannot be attached to its node: ….",
    ([why = ""]) => msg`A volume cannot be attached to its node: ${why}.`,
  ],
  [
    "Its node cannot set up its network: ….",
    ([why = ""]) => msg`Its node cannot set up its network: ${why}.`,
  ],
  [
    "The network of its node is not ready: ….",
    ([why = ""]) => msg`The network of its node is not ready: ${why}.`,
  ],
  ["Its node cannot start it: ….", ([why = ""]) => msg`Its node cannot start it: ${why}.`],
  [
    "Its node waits before the next attempt: ….",
    ([why = ""]) => msg`Its node waits before the next attempt: ${why}.`,
  ],
  ["Its node is not ready in the cluster.", () => msg`Its node is not ready in the cluster.`],
  ["It was evicted from its node: ….", ([why = ""]) => msg`It was evicted from its node: ${why}.`],
  [
    "It was evicted because its node was low on memory: ….",
    ([why = ""]) => msg`It was evicted because its node was low on memory: ${why}.`,
  ],
  [
    "It was evicted because its node was low on disk space: ….",
    ([why = ""]) => msg`It was evicted because its node was low on disk space: ${why}.`,
  ],
  [
    "It was evicted because it wrote too much: ….",
    ([why = ""]) => msg`It was evicted because it wrote too much: ${why}.`,
  ],
  [
    "The cluster ended it to make room for a pod of higher priority: ….",
    ([why = ""]) => msg`The cluster ended it to make room for a pod of higher priority: ${why}.`,
  ],
  ["The cluster reports …: ….", ([what = "", why = ""]) => msg`The cluster reports ${what}: ${why}.`],
  ["The cluster ended it (…): ….", ([what = "", why = ""]) => msg`The cluster ended it (${what}): ${why}.`],
  [
    "The quota … of the namespace is exhausted: … requested, … used, … at most.",
    ([quota = "", requested = "", used = "", most = ""]) =>
      msg`The quota ${quota} of the namespace is exhausted: ${requested} requested, ${used} used, ${most} at most.`,
  ],
  [
    "The admission webhook … of the cluster refuses it.",
    ([name = ""]) => msg`The admission webhook ${name} of the cluster refuses it.`,
  ],
  [
    "The admission webhook … of the cluster refuses it: ….",
    ([name = "", why = ""]) => msg`The admission webhook ${name} of the cluster refuses it: ${why}.`,
  ],
  [
    "Pod Security of the cluster refuses it: ….",
    ([why = ""]) => msg`Pod Security of the cluster refuses it: ${why}.`,
  ],
];

export const CLUSTER_REASONS: readonly [sentence: RegExp, message: Message][] = SENTENCES.map(
  ([sentence, message]) => [pattern(sentence), message],
);
