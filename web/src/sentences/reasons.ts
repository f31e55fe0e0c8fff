import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

type Say = (message: MessageDescriptor) => string;

/**
 * The sentences that the server gives as the reason of a state, and what they say in other languages.
 *
 * The server gives a reason as a sentence alone, so it is known by its words; tests/sentences.test.ts holds them
 * against the server's source. A sentence that is not here is shown as the server wrote it.
 */
const REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [/^No node has joined yet\.$/, () => msg`No node has joined yet.`],
  [
    /^An earlier session has waited so long that nothing may start before it\.$/,
    () => msg`An earlier session has waited so long that nothing may start before it.`,
  ],
  [/^Ended by (.+)\.$/, ([who = ""]) => msg`Ended by ${who}.`],
  [/^Its container disappeared from the engine\.$/, () => msg`Its container disappeared from the engine.`],
  [
    /^The engine did not confirm the removal in time; it is cleaned up when it answers\.$/,
    () => msg`The engine did not confirm the removal in time; it is cleaned up when it answers.`,
  ],
];

/** One part of why no node can take a session: so many nodes, for this cause. */
const NOT_READY = /^(\d+) nodes?: not ready$/;
const NEEDS = /^(\d+) nodes?: needs (.+), (.+) free$/;

/** A reason in the page's words, or null when it is not known. */
export function reasonIn(say: Say, sentence: string): string | null {
  for (const [known, message] of REASONS) {
    const found = known.exec(sentence);
    if (found) return say(message(found.slice(1)));
  }
  const parts = sentence
    .replace(/\.$/, "")
    .split("; ")
    .map((part) => nodesIn(say, part));
  return parts.every((part) => part !== null) ? parts.join(" ") : null;
}

function nodesIn(say: Say, part: string): string | null {
  const [, away] = NOT_READY.exec(part) ?? [];
  if (away) return say(msg`${away} node(s) are not ready.`);
  const [, count, wanted, free] = NEEDS.exec(part) ?? [];
  if (count && wanted && free) return say(msg`On ${count} node(s) ${free} is free, and ${wanted} is wanted.`);
  return null;
}
