import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";

/** The reasons of sessions in elastic groups. What the cluster itself says is not translated. */
export const ELASTIC_REASONS: readonly [sentence: RegExp, message: (words: string[]) => MessageDescriptor][] =
  [
    [
      /^A machine is being added; how long that takes is not known yet\. (.+)$/,
      ([cluster = ""]) => msg`A machine is being added; how long that takes is not known yet. ${cluster}`,
    ],
    [
      /^A machine is being added; that took (.+) the last time\. (.+)$/,
      ([took = "", cluster = ""]) =>
        msg`A machine is being added; that took ${took} the last time. ${cluster}`,
    ],
    [
      /^A machine is being added; the median of the last (\d+) times is (.+?)\. (.+)$/,
      ([count = "", took = "", cluster = ""]) =>
        msg`A machine is being added; the median of the last ${plural(count, { other: "# times" })} is ${took}. ${cluster}`,
    ],
    [
      /^No machine was added within (.+?)\. (.+)$/,
      ([wait = "", cluster = ""]) => msg`No machine was added within ${wait}. ${cluster}`,
    ],
    [
      /^The limit of its elastic group is reached: it needs (.+), (.+) free\.$/,
      ([needed = "", free = ""]) =>
        msg`The limit of its elastic group is reached: it needs ${needed}, ${free} free.`,
    ],
    [
      /^The limit of its elastic group is (.+); this needs (.+)\.$/,
      ([most = "", needed = ""]) => msg`The limit of its elastic group is ${most}; this needs ${needed}.`,
    ],
    [
      /^Its elastic group takes no sessions now: not ready\.$/,
      () => msg`Its elastic group takes no sessions now: not ready.`,
    ],
  ];
