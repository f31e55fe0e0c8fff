import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { labelIn } from "./labels";

type Say = (message: MessageDescriptor) => string;

/**
 * The sentences that the server gives as the reason of a state, and what they say in other languages.
 *
 * The server gives a reason as a sentence alone, so it is known by its words; tests/sentences.test.ts holds them
 * against the server's source. A sentence that is not here is shown as the server wrote it.
 */
const REASONS: readonly [sentence: RegExp, message: (words: string[], say: Say) => MessageDescriptor][] = [
  [/^No node has joined its resource group yet\.$/, () => msg`No node has joined its resource group yet.`],
  [/^Its resource group is not active\.$/, () => msg`Its resource group is not active.`],
  [
    /^There is room for it: it starts with the next pass\.$/,
    () => msg`There is room for it: it starts with the next pass.`,
  ],
  [
    /^There is room, but an earlier session has waited so long that the (\S+) that (.+) may still use is kept for it\.$/,
    ([slot = "", label = ""], say) => {
      const whose = labelIn(say, label);
      return msg`There is room, but an earlier session has waited so long that the ${slot} that ${whose} may still use is kept for it.`;
    },
  ],
  [
    /^There is room, but an earlier session has waited so long that (.+) is kept for it\.$/,
    ([what = ""]) =>
      msg`There is room, but an earlier session has waited so long that ${what} is kept for it.`,
  ],
  [
    /^(.+) may have (\d+) sessions? at once, and has (\d+)\.$/,
    ([label = "", most = "", used = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may have ${most} session(s) at once, and has ${used}.`;
    },
  ],
  [
    /^(.+) may have (\d+) containers? in a session; this needs (\d+)\.$/,
    ([label = "", most = "", asked = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may have ${most} container(s) in a session; this needs ${asked}.`;
    },
  ],
  [
    /^(.+) may use (.+) at once and uses (.+); this needs (.+)\.$/,
    ([label = "", most = "", used = "", asked = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may use ${most} at once and uses ${used}; this needs ${asked}.`;
    },
  ],
  [
    /^(.+) may use (.+) at most\.$/,
    ([label = "", most = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may use ${most} at most.`;
    },
  ],
  [
    /^No node has (.+); the largest has (.+)\.$/,
    ([asked = "", most = ""]) => msg`No node has ${asked}; the largest has ${most}.`,
  ],
  [
    /^Its owner may no longer start sessions in its resource group\.$/,
    () => msg`Its owner may no longer start sessions in its resource group.`,
  ],
  [/^It waits to be tried again\.$/, () => msg`It waits to be tried again.`],
  [/^No node has all of that together\.$/, () => msg`No node has all of that together.`],
  [/^Ended by (.+)\.$/, ([who = ""]) => msg`Ended by ${who}.`],
  [/^It reached its time limit of (.+)\.$/, ([limit = ""]) => msg`It reached its time limit of ${limit}.`],
  [/^Idle: no traffic for (.+)\.$/, ([limit = ""]) => msg`Idle: no traffic for ${limit}.`],
  [
    /^Idle: it used little for (.+) \((.+)\)\.$/,
    ([limit = "", what = ""]) => msg`Idle: it used little for ${limit} (${what}).`,
  ],
  [
    /^It looks idle: it ends in (.+), unless somebody uses it or says that it is in use\.$/,
    ([left = ""]) =>
      msg`It looks idle: it ends in ${left}, unless somebody uses it or says that it is in use.`,
  ],
  [/^Kept by (.+)\.$/, ([who = ""]) => msg`Kept by ${who}.`],
  [
    /^It waited for (.+), and its resource group lets nobody wait for longer\.$/,
    ([limit = ""]) => msg`It waited for ${limit}, and its resource group lets nobody wait for longer.`,
  ],
  [
    /^It waits for the storage host (\S+), which does not respond\.$/,
    ([host = ""]) => msg`It waits for the storage host ${host}, which does not respond.`,
  ],
  [
    /^The folder (\S+) on the storage host (\S+) cannot be reached\./,
    ([folder = "", host = ""]) => msg`The folder ${folder} on the storage host ${host} cannot be reached.`,
  ],
  [
    /^The folder (\S+) has no directory (.+) that can be mounted\.$/,
    ([folder = "", directory = ""]) =>
      msg`The folder ${folder} has no directory ${directory} that can be mounted.`,
  ],
  [
    /^Its node is lost, and what ran there with it\.$/,
    () => msg`Its node is lost, and what ran there with it.`,
  ],
  [
    /^Its node is lost: it goes back to the queue/,
    () =>
      msg`Its node is lost: it goes back to the queue and starts again elsewhere, without the files that were outside mounted folders.`,
  ],
  [/^Its node (\S+) is being emptied\.$/, ([node = ""]) => msg`Its node ${node} is being emptied.`],
  [
    /^Its node (\S+) is being emptied: it goes back to the queue/,
    ([node = ""]) =>
      msg`Its node ${node} is being emptied: it goes back to the queue and starts again elsewhere, without the files that were outside mounted folders.`,
  ],
  [/^Its container disappeared from the engine\.$/, () => msg`Its container disappeared from the engine.`],
  [
    /^The engine did not confirm the removal in time; it is cleaned up when it answers\.$/,
    () => msg`The engine did not confirm the removal in time; it is cleaned up when it answers.`,
  ],
];

/** One part of why no node can take a session: so many nodes, for this cause. */
const NODES = /^(\d+) nodes?: (.+)$/;

/** What keeps a node from taking a session, after its number. */
const CAUSES: readonly [text: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [/^not ready$/, () => msg`not ready`],
  [/^cordoned$/, () => msg`closed for new sessions`],
  [/^is not the one that was asked for$/, () => msg`not the one that was asked for`],
  [
    /^is (\S+), the image needs (\S+)$/,
    ([has = "", wanted = ""]) => msg`of architecture ${has}, and ${wanted} is wanted`,
  ],
  [/^has room for one, not for all of it$/, () => msg`room for one container, not for all`],
  [
    /^has room, but not for all (\d+) containers$/,
    ([count = ""]) => msg`room, but not for all ${count} containers`,
  ],
  [
    /^needs (.+), at most (.+) free$/,
    ([wanted = "", free = ""]) => msg`${wanted} is wanted, at most ${free} is free`,
  ],
  [/^needs (.+), (.+) free$/, ([wanted = "", free = ""]) => msg`${wanted} is wanted, ${free} is free`],
];

/** A reason in the page's words, or null when it is not known. */
export function reasonIn(say: Say, sentence: string): string | null {
  for (const [known, message] of REASONS) {
    const found = known.exec(sentence);
    if (found) return say(message(found.slice(1), say));
  }
  const parts = sentence
    .replace(/\.$/, "")
    .split("; ")
    .map((part) => nodesIn(say, part));
  return parts.every((part) => part !== null) ? parts.join(" ") : null;
}

function nodesIn(say: Say, part: string): string | null {
  const [, count, text] = NODES.exec(part) ?? [];
  const cause = text && nodeCauseIn(say, text);
  return count && cause ? say(msg`${count} node(s): ${cause}.`) : null;
}

/** What keeps some nodes from taking a session, or null when it is not known. */
export function nodeCauseIn(say: Say, text: string): string | null {
  for (const [known, message] of CAUSES) {
    const found = known.exec(text);
    if (found) return say(message(found.slice(1)));
  }
  return null;
}
