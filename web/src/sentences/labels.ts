import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

type Say = (message: MessageDescriptor) => string;

const LABELS: readonly [label: RegExp, message: (name: string) => MessageDescriptor][] = [
  [/^the largest node$/i, () => msg`the largest node`],
  [/^project (.+)$/i, (name) => msg`project ${name}`],
  [/^domain (.+)$/i, (name) => msg`domain ${name}`],
  [/^keypair (.+)$/i, (name) => msg`keypair ${name}`],
  [/^(.+), without a keypair,$/, (name) => msg`${name}, without a keypair`],
];

/** The scope of a limit ("project vision"), translated. A plain e-mail stays. */
export function labelIn(say: Say, label: string): string {
  for (const [known, message] of LABELS) {
    const found = known.exec(label);
    if (found) return say(message(found[1] ?? ""));
  }
  return label;
}
