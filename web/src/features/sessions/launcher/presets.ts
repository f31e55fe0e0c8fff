import type { Check, PresetRoom, Slots, Verdict } from "@/api/types";
import { slotUnit } from "@/ui/slots";

/** Presets by size: fewest devices first, then by CPU, memory and name. */
export function smallestFirst<P extends Pick<PresetRoom, "name" | "slots">>(presets: readonly P[]): P[] {
  const devices = ({ cpu, mem, ...others }: Slots) =>
    Object.entries(others).reduce((sum, [slot, amount]) => sum + amount / slotUnit(slot), 0);
  return [...presets].sort(
    (one, other) =>
      devices(one.slots) - devices(other.slots) ||
      (one.slots.cpu ?? 0) - (other.slots.cpu ?? 0) ||
      (one.slots.mem ?? 0) - (other.slots.mem ?? 0) ||
      one.name.localeCompare(other.name),
  );
}

/**
 * What becomes of a session with this preset. Never contradicts the form's own verdict: the chosen preset has the
 * form's, and whatever else refuses the form refuses it with any amounts.
 *
 * chosen: the form's verdict, if the form asks for this preset; undefined in it while it is checked.
 */
export function presetVerdict(
  check: Pick<Check, "verdict" | "code" | "field">,
  preset: Pick<PresetRoom, "verdict">,
  chosen: { verdict: Verdict | undefined } | null,
): Verdict | undefined {
  if (chosen) return chosen.verdict;
  const byAmounts = check.field === null || check.field.startsWith("slots");
  return check.verdict === "never" && check.code && !byAmounts ? "never" : preset.verdict;
}
