import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import * as common from "@zxcvbn-ts/language-common";

/** The cost of the strength estimate grows with the square of the length. */
const LONGEST_JUDGED = 72;

const judge = new ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });

/** Password strength, 0 to 4. `personal`: words that are easy to guess for this user. */
export function strengthOf(password: string, personal: readonly string[]): number {
  const words = personal.flatMap((text) => [text, ...text.split(/[@.\s]+/)]).filter(Boolean);
  return judge.check(password.slice(0, LONGEST_JUDGED), words).score;
}
