import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

type Say = (message: MessageDescriptor) => string;

const UNITS: Record<string, (amount: string) => MessageDescriptor> = {
  s: (amount) => msg`${amount} s`,
  min: (amount) => msg`${amount} min`,
  h: (amount) => msg`${amount} h`,
  d: (amount) => msg`${amount} d`,
};

/** "3.5 min" as the server writes it, translated. */
export function durationIn(say: Say, text: string): string {
  const [, amount = "", unit = ""] = /^([\d.]+) (s|min|h|d)$/.exec(text) ?? [];
  return UNITS[unit] ? say(UNITS[unit](amount)) : text;
}

const MEASURES: Record<string, MessageDescriptor> = {
  CPU: msg`CPU`,
  memory: msg`Memory`,
  accelerators: msg`Accelerators`,
  "accelerator memory": msg`Accelerator memory`,
};

/** "CPU 0.3 %, below 5 %": the means of a session and the thresholds of its policy, translated. */
function measuresIn(say: Say, text: string): string {
  return text.replaceAll(
    /(?<=^|, )([A-Za-z][A-Za-z ]*?)(?: ([\d.]+) %,)? below (\d+) %/g,
    (whole, name: string, mean: string | undefined, most: string) => {
      const known = MEASURES[name];
      if (!known) return whole;
      const measure = say(known);
      return say(
        mean === undefined ? msg`${measure} below ${most} %` : msg`${measure} ${mean} %, below ${most} %`,
      );
    },
  );
}

/** Reasons that a session ends by its time or for lack of use. */
export const IDLE_REASONS: readonly [RegExp, (words: string[], say: Say) => MessageDescriptor][] = [
  [
    /^It reaches its time limit of (.+) in (.+)\.$/,
    ([time = "", rest = ""], say) => {
      const [limit, left] = [durationIn(say, time), durationIn(say, rest)];
      return msg`It reaches its time limit of ${limit} in ${left}.`;
    },
  ],
  [
    /^It reached its time limit of (.+)\.$/,
    ([time = ""], say) => {
      const limit = durationIn(say, time);
      return msg`It reached its time limit of ${limit}.`;
    },
  ],
  [
    /^Idle: no traffic for (.+)\.$/,
    ([time = ""], say) => {
      const limit = durationIn(say, time);
      return msg`Idle: no traffic for ${limit}.`;
    },
  ],
  [
    /^Idle: low utilization for (.+) \((.+)\)\.$/,
    ([time = "", use = ""], say) => {
      const [limit, what] = [durationIn(say, time), measuresIn(say, use)];
      return msg`Idle: low utilization for ${limit} (${what}).`;
    },
  ],
  [
    /^It looks idle: it ends in (.+) unless it is used or marked as in use\.$/,
    ([time = ""], say) => {
      const left = durationIn(say, time);
      return msg`It looks idle: it ends in ${left} unless it is used or marked as in use.`;
    },
  ],
  [
    /^It was pending for (.+), the limit of its resource group\.$/,
    ([time = ""], say) => {
      const limit = durationIn(say, time);
      return msg`It was pending for ${limit}, the limit of its resource group.`;
    },
  ],
];
