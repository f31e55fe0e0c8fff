import type { Greeting } from "@/api/types";

export type PasswordRules = Greeting["password"];

/** The password rules that can be checked locally, and whether each is met. */
export function rulesKept(password: string, rules: PasswordRules): { length: boolean; classes: boolean } {
  // Code points, as on the server.
  return { length: [...password].length >= rules.min_length, classes: classesOf(password) >= rules.classes };
}

/** The number of character classes: lower case, upper case, digits and others. */
export function classesOf(password: string): number {
  const small = /\p{Lowercase}/u;
  const capital = /\p{Uppercase}/u;
  const digit = /\p{Nd}/u;
  const all = [...password];
  return [
    all.some((one) => small.test(one)),
    all.some((one) => capital.test(one)),
    all.some((one) => digit.test(one)),
    all.some((one) => !small.test(one) && !capital.test(one) && !digit.test(one)),
  ].filter(Boolean).length;
}

/** Scores are 0 to 4; lower ones are easy to guess, as on the server. */
export const GUESSABLE_BELOW = 2;
