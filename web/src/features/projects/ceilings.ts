import type { Slots } from "@/api/types";
import type { SlotLimit } from "@/ui/form/SlotLimitsInput";
import { slotWord } from "@/ui/slots";

/** The slots that are always listed. */
const USUAL = ["cpu", "mem"];

/** The form rows for these ceilings: the standard slots first, limited or not. */
export function ceilingRows(ceilings: Slots): SlotLimit[] {
  const others = Object.keys(ceilings).filter((slot) => !USUAL.includes(slot));
  return [...USUAL, ...others].map((slot) => ({ slot, amount: ceilings[slot] ?? null }));
}

/** The ceilings of the form rows, without unlimited slots. */
export function ceilingsOf(rows: readonly SlotLimit[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ slot, amount }) => (slot && amount !== null ? [[slot, amount]] : [])),
  );
}

/** The CLI options for these ceilings. */
export function ceilingWords(ceilings: Slots): string[] {
  return Object.entries(ceilings).flatMap(([slot, amount]) => ["--ceiling", slotWord(slot, amount)]);
}
