import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";

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

/** What happened to a session; lead: "Not all of" or "No session of" an array. */
function happened(lead: string, name: string, what: string): MessageDescriptor {
  if (lead === "Not all of") return msg`Not all sessions of ${name} succeeded.`;
  if (lead === "No session of") return msg`No session of ${name} failed.`;
  return HAPPENED[what]?.(name) ?? msg`${name} failed.`;
}

/** What a session waits for, and how many sessions of the array have ended, if it is one. */
function waits([name = "", ended = "", count = "", verb = ""]: string[], say: Say): MessageDescriptor {
  const message = WAITS[verb]?.(name) ?? msg`It waits for ${name} to end.`;
  if (!ended) return message;
  const first = say(message);
  return msg`${first} ${ended} of ${count} have ended.`;
}

/** The reasons of sessions that start after others: what they wait for, and why they cannot start any more. */
export const DEPENDENCY_REASONS: readonly [
  sentence: RegExp,
  message: (words: string[], say: Say) => MessageDescriptor,
][] = [
  [/^It waits for (.+?)(?: \((\d+) of (\d+) have ended\))? to (succeed|fail|end)\.$/, waits],
  [
    /^It waits for (.+?)(?: \((\d+) of (\d+) have ended\))? to (succeed|fail|end), and for (\d+) other sessions?\.$/,
    (words, say) => {
      const first = say(waits(words, say));
      const count = words[4] ?? "";
      return msg`${first} It also waits for ${plural(count, { one: "# other session", other: "# other sessions" })}.`;
    },
  ],
  [
    /^(?:(Not all of|No session of) )?(.+) (succeeded|failed|reached its time limit|was cancelled), and this session (was to start after its success|was to start after its failure|starts only after its success|starts only after its failure)\.$/,
    ([lead = "", name = "", what = "", needed = ""], say) => {
      const first = say(happened(lead, name, what));
      const second = say(NEEDED[needed] ?? msg`This session was to start after its success.`);
      return msg`${first} ${second}`;
    },
  ],
  [
    /^(?:(Not all of|No session of) )?(.+) (succeeded|failed|reached its time limit|was cancelled), so a session cannot start after its (success|failure)\.$/,
    ([lead = "", name = "", what = ""], say) => {
      const first = say(happened(lead, name, what));
      return msg`${first} So a session cannot start after it like this.`;
    },
  ],
  [
    /^There is no estimate, because (.+) has no time limit\.$/,
    ([name = ""]) => msg`No estimated start time, because ${name} has no time limit.`,
  ],
  [
    /^There is no estimate, because (.+) waits for a session without a time limit\.$/,
    ([name = ""]) => msg`No estimated start time, because ${name} waits for a session without a time limit.`,
  ],
  [
    /^There is no estimate, because the queue is too long\.$/,
    () => msg`No estimated start time, because the queue is too long.`,
  ],
];
