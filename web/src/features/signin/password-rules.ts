import type { Greeting } from "@/api/types";

export type PasswordRules = Greeting["password"];

/** Whether a password keeps each rule that can be told by looking at it. */
export function rulesKept(password: string, rules: PasswordRules): { length: boolean; classes: boolean } {
  // Code points, as the server counts them.
  return { length: [...password].length >= rules.min_length, classes: classesOf(password) >= rules.classes };
}

/** How many of small letters, capital letters, digits and other characters there are in it. */
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

/** The judge's scores are from 0 to 4; what is below this is easy to guess, as the server says too. */
export const GUESSABLE_BELOW = 2;
