import type { Slots } from "@/api/types";
import { slotWord } from "@/ui/slots";

/** One row of the table of ceilings. amount: in base units; null: not limited. */
export type Ceiling = { slot: string; amount: number | null };

/** The slots that are always offered. */
const USUAL = ["cpu", "mem"];

/** The rows for these ceilings: the usual slots first, whether limited or not. */
export function ceilingRows(ceilings: Slots): Ceiling[] {
  const others = Object.keys(ceilings).filter((slot) => !USUAL.includes(slot));
  return [...USUAL, ...others].map((slot) => ({ slot, amount: ceilings[slot] ?? null }));
}

/** The ceilings that the rows say; a slot that is not limited is left out. */
export function ceilingsOf(rows: readonly Ceiling[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ slot, amount }) => (slot && amount !== null ? [[slot, amount]] : [])),
  );
}

/** The options of the command line for these ceilings. */
export function ceilingWords(ceilings: Slots): string[] {
  return Object.entries(ceilings).flatMap(([slot, amount]) => ["--ceiling", slotWord(slot, amount)]);
}
