import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Group, NodeDetail } from "@/api/types";

type Tier = NonNullable<NodeDetail["sharing"]>["tier"];

/** How a node enforces shares of GPUs. */
export const TIERS: Record<Tier, MessageDescriptor> = {
  mps3: msg`Memory and computing are limited (mps3)`,
  slice: msg`Memory is limited (slice)`,
  mps2: msg`Not enforced (mps2)`,
  mig: msg`Divided in hardware (mig)`,
  none: msg`Not enforced`,
};

/** How shares of GPUs must be enforced at least. */
export const LEAST_TIERS: Record<Group["min_share_tier"], MessageDescriptor> = {
  none: msg`Not required`,
  slice: msg`Memory`,
  mps3: msg`Memory and computing`,
};

const REASONS: [RegExp, (parts: string[]) => MessageDescriptor][] = [
  [/^No daemon of MPS version 3 answers\.$/, () => msg`No daemon of MPS version 3 answers.`],
  [
    /^The driver (\S+) is older than (\S+)\.$/,
    ([driver = "", least = ""]) => msg`The driver ${driver} is older than ${least}.`,
  ],
  [
    /^The driver is not known to be (\S+) or newer\.$/,
    ([least = ""]) => msg`The driver is not known to be ${least} or newer.`,
  ],
  [/^The machine has no version 2 of cgroups\.$/, () => msg`The machine has no version 2 of cgroups.`],
  [/^Carrel does not run as root\.$/, () => msg`Carrel does not run as root.`],
  [/^All GPUs are in MIG mode\.$/, () => msg`All GPUs are in MIG mode.`],
];

/** Why a node does not enforce shares better; sentences that the page does not know stay as they are. */
export function sharingReason(reason: string, translate: (message: MessageDescriptor) => string): string {
  const inWords = (sentence: string) => {
    for (const [pattern, words] of REASONS) {
      const match = pattern.exec(sentence);
      if (match) return translate(words(match.slice(1)));
    }
    return sentence;
  };
  return reason
    .split(/(?<=\.) (?=[A-Z])/)
    .map(inWords)
    .join(" ");
}
