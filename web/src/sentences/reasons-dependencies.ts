import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

type Say = (message: MessageDescriptor) => string;

const WAITS: Record<string, (name: string) => MessageDescriptor> = {
  succeed: (name) => msg`It waits for ${name} to succeed.`,
  fail: (name) => msg`It waits for ${name} to fail.`,
  end: (name) => msg`It waits for ${name} to end.`,
};

const HAPPENED: Record<string, (name: string) => MessageDescriptor> = {
  succeeded: (name) => msg`${name} succeeded.`,
  failed: (name) => msg`${name} failed.`,
  "reached its time limit": (name) => msg`${name} reached its time limit.`,
  "was cancelled": (name) => msg`${name} was cancelled.`,
};

const NEEDED: Record<string, MessageDescriptor> = {
  "was to start after its success": msg`This session was to start after its success.`,
  "was to start after its failure": msg`This session was to start after its failure.`,
  "starts only after its success": msg`This session starts only after its success.`,
  "starts only after its failure": msg`This session starts only after its failure.`,
};

/** The reasons of sessions that start after others: what they wait for, and why they cannot start any more. */
export const DEPENDENCY_REASONS: readonly [
  sentence: RegExp,
  message: (words: string[], say: Say) => MessageDescriptor,
][] = [
  [
    /^It waits for (.+) to (succeed|fail|end)\.$/,
    ([name = "", verb = ""]) => WAITS[verb]?.(name) ?? msg`It waits for ${name} to end.`,
  ],
  [
    /^It waits for (.+) to (succeed|fail|end), and for (\d+) other sessions?\.$/,
    ([name = "", verb = "", count = ""], say) => {
      const first = say(WAITS[verb]?.(name) ?? msg`It waits for ${name} to end.`);
      return msg`${first} It also waits for ${count} other session(s).`;
    },
  ],
  [
    /^(.+) (succeeded|failed|reached its time limit|was cancelled), and this session (was to start after its success|was to start after its failure|starts only after its success|starts only after its failure)\.$/,
    ([name = "", what = "", needed = ""], say) => {
      const first = say(HAPPENED[what]?.(name) ?? msg`${name} failed.`);
      const second = say(NEEDED[needed] ?? msg`This session was to start after its success.`);
      return msg`${first} ${second}`;
    },
  ],
  [
    /^(.+) (succeeded|failed|reached its time limit|was cancelled), so a session cannot start after its (success|failure)\.$/,
    ([name = "", what = ""], say) => {
      const first = say(HAPPENED[what]?.(name) ?? msg`${name} failed.`);
      return msg`${first} So a session cannot start after it like this.`;
    },
  ],
];
