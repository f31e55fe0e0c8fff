import type { Resources } from "@/api/types";

const GIB = 2 ** 30;

/** What a slider for CPU stops at, in millicores: finer at the low end, always ending with all there is. */
export function cpuStops(capacity: number): number[] {
  return ladder(
    [100, 250, 500, 750, 1000, 1500, 2000, 3000, 4000],
    (last) => last + (last < 16_000 ? 1000 : 4000),
    capacity,
  );
}

/** What a slider for memory stops at, in bytes. */
export function memStops(capacity: number): number[] {
  const start = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8].map((gib) => gib * GIB);
  return ladder(start, (last) => last + (last < 32 * GIB ? 4 : 16) * GIB, capacity);
}

function ladder(start: number[], next: (last: number) => number, capacity: number): number[] {
  const stops = start.filter((stop) => stop < capacity);
  if (stops.length === start.length) {
    for (let stop = next(start.at(-1) ?? 0); stop < capacity; stop = next(stop)) stops.push(stop);
  }
  return [...stops, capacity];
}

/** The position of the stop nearest to an amount. */
export function nearestStop(stops: number[], amount: number): number {
  let best = 0;
  for (const [index, stop] of stops.entries()) {
    if (Math.abs(stop - amount) < Math.abs((stops[best] ?? 0) - amount)) best = index;
  }
  return best;
}

export type Verdict = "starts" | "waits" | "never";

/**
 * How much of one slot the largest session that could start now would get.
 *
 * Where another slot is used up no session could start at all; then what is left of this one still tells something.
 */
export function freeNow(slot: "cpu" | "mem", { largest, left }: Resources): number {
  return largest.cpu > 0 && largest.mem > 0 ? largest[slot] : left[slot];
}

/** Whether so much of one slot could start now, would have to wait, or can never be given. */
export function verdict(amount: number, slot: "cpu" | "mem", resources: Resources): Verdict {
  if (amount > resources.capacity[slot]) return "never";
  return amount > freeNow(slot, resources) ? "waits" : "starts";
}
