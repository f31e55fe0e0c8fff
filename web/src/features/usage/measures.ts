import type { UsageHistoryData } from "@/api/generated/types.gen";
import type { TimeRange } from "@/ui/chart/series";
import { inSlotOrder } from "@/ui/slots";

export type UsageSpan = NonNullable<UsageHistoryData["query"]["range"]>;
export type Measures = Readonly<Record<string, { mean: (number | null)[]; peak: (number | null)[] }>>;

export const SPAN_S: Readonly<Record<UsageSpan, number>> = { "24h": 86_400, "7d": 604_800, "30d": 2_592_000 };

/** Shorter histories fill the chart, at least an hour of it. */
const LEAST_S = 3600;

/** The period that a chart shows: the span, or what has been recorded of it. */
export function shownPeriod(times: readonly number[], span_s: number): TimeRange {
  const end = times.at(-1) ?? Date.now() / 1000;
  const recorded = end - (times[0] ?? end);
  return [end - Math.min(span_s, Math.max(recorded, LEAST_S)), end];
}

/** The slots that were ever offered, allocated or used. */
export function measuredSlots(measures: Measures): string[] {
  const slots = new Set<string>();
  for (const [name, { mean }] of Object.entries(measures)) {
    const [slot, what] = [name.slice(0, name.lastIndexOf(".")), name.slice(name.lastIndexOf(".") + 1)];
    if (slot === "sessions" || slot === "accelerator") continue;
    if (["allocated", "used", "capacity"].includes(what) && mean.some((value) => value)) slots.add(slot);
  }
  return inSlotOrder(slots);
}

const PERCENT = ".percent";

/** The kinds of accelerators whose utilisation was measured. */
export const measuredKinds = (measures: Measures): string[] =>
  inSlotOrder(
    Object.keys(measures)
      .filter((name) => name.endsWith(PERCENT))
      .map((name) => name.slice(0, -PERCENT.length)),
  );
