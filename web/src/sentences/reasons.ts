import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";
import { labelIn } from "./labels";
import { CLUSTER_REASONS } from "./reasons-cluster";
import { DEPENDENCY_REASONS } from "./reasons-dependencies";
import { DISK_REASONS } from "./reasons-disk";
import { ELASTIC_REASONS } from "./reasons-elastic";
import { FOLDER_REASONS } from "./reasons-folders";
import { IDLE_REASONS } from "./reasons-idle";
import { NODE_REASONS } from "./reasons-nodes";
import { PULL_REASONS } from "./reasons-pulls";
import { RIGHTS_REASONS } from "./reasons-rights";

type Say = (message: MessageDescriptor) => string;

/**
 * Translations of the reason messages of the server.
 *
 * A reason comes as a message only, so it is matched by its text; tests/sentences.test.ts compares the
 * patterns with the server's source. An unknown message is shown as it is.
 */
const REASONS: readonly [sentence: RegExp, message: (words: string[], say: Say) => MessageDescriptor][] = [
  [/^No node has joined its resource group yet\.$/, () => msg`No node has joined its resource group yet.`],
  [/^Its resource group is not active\.$/, () => msg`Its resource group is not active.`],
  [
    /^Its resource group has no topology label (\S+)\.$/,
    ([label = ""]) => msg`Its resource group has no topology label ${label}.`,
  ],
  [
    /^There is free capacity: it starts in the next scheduling cycle\.$/,
    () => msg`There is free capacity: it starts in the next scheduling cycle.`,
  ],
  [
    /^There is free capacity, but the (\S+) that (.+) may still use is reserved for an earlier session that has waited too long\.$/,
    ([slot = "", label = ""], say) => {
      const whose = labelIn(say, label);
      return msg`There is free capacity, but the ${slot} that ${whose} may still use is reserved for an earlier session that has waited too long.`;
    },
  ],
  [
    /^There is free capacity, but (.+) is reserved for an earlier session that has waited too long\.$/,
    ([what = ""]) =>
      msg`There is free capacity, but ${what} is reserved for an earlier session that has waited too long.`,
  ],
  [
    /^(.+) may have (\d+) sessions? at once, and has (\d+)\.$/,
    ([label = "", most = "", used = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may have ${plural(most, { one: "# session", other: "# sessions" })} at once, and has ${used}.`;
    },
  ],
  [
    /^(.+) may have (\d+) containers? in a session; this needs (\d+)\.$/,
    ([label = "", most = "", asked = ""], say) => {
      const whose = labelIn(say, label);
      return msg`${whose} may have ${plural(most, { one: "# container", other: "# containers" })} in a session; this needs ${asked}.`;
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
  [/^It is waiting for the next start attempt\.$/, () => msg`It is waiting for the next start attempt.`],
  [/^No single node has all of these resources\.$/, () => msg`No single node has all of these resources.`],
  [/^Replaced by (.+)\.$/, ([who = ""]) => msg`Replaced by ${who}.`],
  [/^Restarted by (.+)\.$/, ([who = ""]) => msg`Restarted by ${who}.`],
  [/^Its time limit is (.+) now\.$/, ([limit = ""]) => msg`Its time limit is ${limit} now.`],
  [/^It has (.+) now\.$/, ([what = ""]) => msg`It has ${what} now.`],
  [
    /^Its CPU and memory were not changed: (.+)$/,
    ([why = ""]) => msg`Its CPU and memory were not changed: ${why}`,
  ],
  [
    /^Until the engine confirms their removal, these may remain: (.+)\.$/,
    ([left = ""]) => msg`Until the engine confirms their removal, these containers may remain: ${left}.`,
  ],
  [/^Ended by (.+) by force\.$/, ([who = ""]) => msg`Ended by ${who} by force.`],
  [/^Ended by (.+)\.$/, ([who = ""]) => msg`Ended by ${who}.`],
  ...IDLE_REASONS,
  [/^Kept by (.+)\.$/, ([who = ""]) => msg`Kept by ${who}.`],
  ...FOLDER_REASONS,
  [
    /^It starts no earlier than (.+), as requested\.$/,
    ([time = ""]) => msg`It starts no earlier than ${time}, as requested.`,
  ],
  [
    /^Its array runs at most (\d+) at a time\.$/,
    ([most = ""]) => msg`Its array runs at most ${most} at a time.`,
  ],
  [/^Replaced by the next run of its schedule\.$/, () => msg`Replaced by the next run of its schedule.`],
  [/^Its command succeeded\.$/, () => msg`Its command succeeded.`],
  [
    /^Its command failed with exit code (\d+)\.$/,
    ([code = ""]) => msg`Its command failed with exit code ${code}.`,
  ],
  [
    /^The command of (\S+) failed with exit code (\d+)\.$/,
    ([name = "", code = ""]) => msg`The command of ${name} failed with exit code ${code}.`,
  ],
  [/^Its command was killed by (\w+)\.$/, ([signal = ""]) => msg`Its command was killed by ${signal}.`],
  [
    /^The command of (\S+) was killed by (\w+)\.$/,
    ([name = "", signal = ""]) => msg`The command of ${name} was killed by ${signal}.`,
  ],
  [/^Retrying; attempts left: (\d+)\.$/, ([left = ""]) => msg`Retrying; attempts left: ${left}.`],
  [
    /^A process was killed because the session reached its memory limit\.$/,
    () => msg`A process was killed because the session reached its memory limit.`,
  ],
  [
    /^Its node (\S+) was lost during the start; its command may have run\.$/,
    ([node = ""]) => msg`Its node ${node} was lost during the start; its command may have run.`,
  ],
  ...CLUSTER_REASONS,
  ...PULL_REASONS,
  ...DEPENDENCY_REASONS,
  ...DISK_REASONS,
  ...ELASTIC_REASONS,
  ...RIGHTS_REASONS,
  ...NODE_REASONS,
  [/^Its node (\S+) is draining\.$/, ([node = ""]) => msg`Its node ${node} is draining.`],
  [
    /^Its node (\S+) is draining: it is requeued/,
    ([node = ""]) =>
      msg`Its node ${node} is draining: it is requeued and restarts on another node, without the files outside mounted folders.`,
  ],
  [
    /^Its bootstrap script failed; the end of the log shows why\.$/,
    () => msg`Its bootstrap script failed; the end of the log shows why.`,
  ],
  [/^Its container disappeared from the engine\.$/, () => msg`Its container disappeared from the engine.`],
  [
    /^Its container stopped, for example with the engine\.$/,
    () => msg`Its container stopped, for example with the engine.`,
  ],
  [
    /^It was started again; files are kept, processes are not\.$/,
    () => msg`It was started again; files are kept, processes are not.`,
  ],
  [
    /^It was started again; files outside mounted folders are lost, as are processes\.$/,
    () => msg`It was started again; files outside mounted folders are lost, as are processes.`,
  ],
  [
    /^It has been started again (\d+) times already\.$/,
    ([times = ""]) => msg`It has been started again ${times} times already.`,
  ],
  [
    /^The engine did not confirm the removal in time; the container is removed when the engine responds\.$/,
    () =>
      msg`The engine did not confirm the removal in time; the container is removed when the engine responds.`,
  ],
];

/** One part of a placement failure: a number of nodes with a cause. */
const NODES = /^(\d+) nodes?: (.+)$/;

/** Causes why a node cannot run a session, after the count. */
const CAUSES: readonly [text: RegExp, message: (words: string[]) => MessageDescriptor][] = [
  [/^not ready$/, () => msg`not ready`],
  [/^cordoned$/, () => msg`cordoned`],
  [/^cordoned in the cluster$/, () => msg`cordoned in the cluster`],
  [/^not ready in the cluster$/, () => msg`not ready in the cluster`],
  [/^about to be taken away \((\S+)\)$/, ([notice = ""]) => msg`about to be taken away (${notice})`],
  [
    /^has the taint (\S+), which sessions do not tolerate$/,
    ([taint = ""]) => msg`has the taint ${taint}, which sessions do not tolerate`,
  ],
  [/^is not the requested node$/, () => msg`not the requested node`],
  [/^does not enforce network policies$/, () => msg`does not enforce network policies`],
  [/^does not have the capability (\S+)$/, ([name = ""]) => msg`does not have the capability ${name}`],
  [/^does not have the runtime (\S+)$/, ([name = ""]) => msg`does not have the runtime ${name}`],
  [
    /^has no user namespaces with the runtime (\S+)$/,
    ([name = ""]) => msg`no user namespaces with the runtime ${name}`,
  ],
  [/^cannot give root in a session$/, () => msg`cannot give root in a session`],
  [/^cannot reach the storage host (\S+)$/, ([host = ""]) => msg`cannot reach the storage host ${host}`],
  [/^does not have the environment (\S+)$/, ([name = ""]) => msg`does not have the environment ${name}`],
  [
    /^is (\S+), the image needs (\S+)$/,
    ([has = "", wanted = ""]) => msg`architecture ${has}, the image needs ${wanted}`,
  ],
  [
    /^driver (\S+) supports CUDA (\S+), the image needs (.+)$/,
    ([driver = "", cuda = "", needed = ""]) =>
      msg`driver ${driver} supports CUDA ${cuda}, the image needs ${needed}`,
  ],
  [
    /^supports CUDA (\S+), the image needs (.+)$/,
    ([cuda = "", needed = ""]) => msg`supports CUDA ${cuda}, the image needs ${needed}`,
  ],
  [
    /^does not enforce shares, its resource group requires (\S+)$/,
    ([tier = ""]) => msg`does not enforce shares of GPUs, the resource group requires ${tier}`,
  ],
  [
    /^enforces shares by (\S+), its resource group requires (\S+)$/,
    ([tier = "", least = ""]) =>
      msg`enforces shares of GPUs by ${tier}, the resource group requires ${least}`,
  ],
  [/^has capacity for one container, not for all$/, () => msg`capacity for one container, not for all`],
  [
    /^has capacity for some containers, but not for all$/,
    () => msg`capacity for some containers, but not for all`,
  ],
  [
    /^has capacity for some containers, but not for all on nodes that reach each other$/,
    () => msg`capacity for some containers, but not for all on nodes that reach each other`,
  ],
  [
    /^has capacity for some containers, but not for all within one (\S+)$/,
    ([level = ""]) => msg`capacity for some containers, but not for all within one ${level}`,
  ],
  [/^has no label (\S+)$/, ([label = ""]) => msg`no label ${label}`],
  [
    /^has capacity, but not for all (\d+) containers$/,
    ([count = ""]) => msg`capacity, but not for all ${count} containers`,
  ],
  [
    /^needs (.+), at most (.+) free$/,
    ([wanted = "", free = ""]) => msg`needs ${wanted}, at most ${free} free`,
  ],
  [/^needs (.+), (.+) free$/, ([wanted = "", free = ""]) => msg`needs ${wanted}, ${free} free`],
];

/** A reason, translated, or null if unknown. */
export function reasonIn(say: Say, sentence: string): string | null {
  for (const [known, message] of REASONS) {
    const found = known.exec(sentence);
    if (found) return say(message(found.slice(1), say));
  }
  const [first, ...more] = sentence.split(/(?<=\.) (?=[A-Z])/);
  if (first && more.length > 0) {
    const known = [first, ...more].map((one) => reasonIn(say, one));
    return known.every((one) => one !== null) ? known.join(" ") : null;
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
  return count && cause ? say(msg`${plural(count, { one: "# node", other: "# nodes" })}: ${cause}.`) : null;
}

/** A node cause, translated, or null if unknown. */
export function nodeCauseIn(say: Say, text: string): string | null {
  for (const [known, message] of CAUSES) {
    const found = known.exec(text);
    if (found) return say(message(found.slice(1)));
  }
  return null;
}
