import type { SlotKind, SlotRoom, Verdict } from "@/api/types";

const GIB = 2 ** 30;
const CPU_START = [100, 250, 500, 750, 1000, 1500, 2000, 3000, 4000];
const MEM_START = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8].map((gib) => gib * GIB);
const SHARES_STEP = 100;

/**
 * The stops of a slider in base units, ending with the maximum: finer at the low end, every unit for devices.
 */
export function stopsOf(
  slot: string,
  most: number,
  kind?: Pick<SlotKind, "type" | "quantum" | "allowed">,
): number[] {
  if (slot === "cpu") return ladder(CPU_START, (last) => last + (last < 16_000 ? 1000 : 4000), most);
  if (slot === "mem") return ladder(MEM_START, (last) => last + (last < 32 * GIB ? 4 : 16) * GIB, most);
  if (kind?.type === "unique") return most > 0 ? [0, 1] : [0];
  if (kind?.allowed.length) return [0, ...kind.allowed.filter((amount) => amount <= most)];
  const quantum = kind?.quantum ?? 1;
  const step = kind?.type === "shares" ? Math.ceil(SHARES_STEP / quantum) * quantum : quantum;
  return [...ladder([0], (last) => last + step, most - (most % quantum))];
}

function ladder(start: number[], next: (last: number) => number, most: number): number[] {
  const stops = start.filter((stop) => stop < most);
  if (stops.length === start.length) {
    for (let stop = next(start.at(-1) ?? 0); stop < most; stop = next(stop)) stops.push(stop);
  }
  return [...stops, most];
}

/** The index of the stop nearest to an amount. */
export function nearestStop(stops: number[], amount: number): number {
  let best = 0;
  for (const [index, stop] of stops.entries()) {
    if (Math.abs(stop - amount) < Math.abs((stops[best] ?? 0) - amount)) best = index;
  }
  return best;
}

/** The index of the last stop that does not exceed an amount. */
export function lastStopWithin(stops: number[], amount: number): number {
  return Math.max(
    0,
    stops.findLastIndex((stop) => stop <= amount),
  );
}

/**
 * The capacity to show beside an amount. What starts now is available, even if it is only by its priority, which the
 * server's figures do not take into account.
 */
export function roomShown(room: SlotRoom, amount: number, verdict: Verdict | undefined): SlotRoom {
  return verdict === "starts" && amount > room.now ? { ...room, now: amount } : room;
}

export type Fit = "starts" | "waits" | "never";

/** Whether this amount of a slot could start now, would wait, or can never start. */
export function fitOf(amount: number, room: SlotRoom): Fit {
  if (amount > room.most) return "never";
  return amount > room.now ? "waits" : "starts";
}
