import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** What is being done for the app layer of an engine, or how its containers have it. */
const LAYER_STEPS: readonly [step: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [/^trying it out in the cluster$/, () => msg`trying it out in the cluster`],
  [/^copying it to a volume$/, () => msg`copying it to a volume`],
  [/^Mounted as an image volume\.$/, () => msg`Mounted as an image volume.`],
  [
    /^Kept in (\S+) on each node: (.+)\.$/,
    ([directory = "", reason = ""]) => msg`Kept in ${directory} on each node: ${reason}.`,
  ],
  [
    /^Copied into each pod, which takes time and disk: (.+)\.$/,
    ([reason = ""]) => msg`Copied into each pod, which takes time and disk: ${reason}.`,
  ],
];

/** The step in the user's language; the server's own words if it is another one, such as an instruction. */
export function layerStep(say: (message: MessageDescriptor) => string, step: string): string {
  for (const [pattern, message] of LAYER_STEPS) {
    const found = pattern.exec(step);
    if (found) return say(message(found.slice(1)));
  }
  return step;
}
