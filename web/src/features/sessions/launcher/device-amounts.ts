import type { SlotKind, SlotRoom, Slots } from "@/api/types";
import { stopsOf } from "./amounts";
import { withSlot } from "./request";

/** A device, in shares. */
const WHOLE = 1000;

type Kind = Pick<SlotKind, "name" | "family" | "type" | "quantum" | "allowed">;
type Rooms = Readonly<Record<string, SlotRoom>>;

/** The whole devices and the shares of a family, which people ask for as one amount: 0.3, 1, 2. */
export interface DevicePair<K extends Kind = Kind> {
  whole: K;
  shares: K;
}

/** The families of which the nodes have both whole devices and shares. */
export function devicePairs<K extends Kind>(kinds: readonly K[], slots: Iterable<string>): DevicePair<K>[] {
  const there = new Set(slots);
  const offered = kinds.filter(({ name }) => there.has(name));
  return offered.flatMap((shares) => {
    const whole = offered.find(({ family, type }) => type === "count" && family === shares.family);
    return shares.type === "shares" && whole ? [{ whole, shares }] : [];
  });
}

/** The amount of devices, in thousandths. */
export const deviceAmount = ({ whole, shares }: DevicePair, slots: Slots): number =>
  (slots[whole.name] ?? 0) * WHOLE + (slots[shares.name] ?? 0);

/** The slots with another amount of devices: whole ones if it is a valid number of them, else shares. */
export function withDevices(
  { whole, shares }: DevicePair,
  slots: Slots,
  amount: number,
  kinds: readonly Kind[],
): Record<string, number> {
  const { [whole.name]: _whole, [shares.name]: _shares, ...others } = slots;
  if (amount === 0) return { ...others, [whole.name]: 0 };
  return isWhole(whole, amount)
    ? withSlot(others, whole.name, amount / WHOLE, kinds)
    : withSlot(others, shares.name, amount, kinds);
}

function isWhole({ quantum, allowed }: Kind, amount: number): boolean {
  const number = amount / WHOLE;
  return number % quantum === 0 && (allowed.length === 0 || allowed.includes(number));
}

/** The stops of one slider: the parts of a device that exist, then whole devices. */
export function deviceStops({ whole, shares }: DevicePair, rooms: Rooms): number[] {
  const parts = stopsOf(shares.name, Math.min(rooms[shares.name]?.most ?? 0, WHOLE), shares);
  const numbers = stopsOf(whole.name, rooms[whole.name]?.most ?? 0, whole);
  return [...parts.filter((part) => part < WHOLE), ...numbers.slice(1).map((number) => number * WHOLE)];
}

/** What is available, in thousandths: of whole devices if the amount is of them, or of what allows more. */
export function deviceRoom(
  { whole, shares }: DevicePair,
  rooms: Rooms,
  amount: number,
): SlotRoom | undefined {
  const [devices, parts] = [rooms[whole.name], rooms[shares.name]];
  const inShares = devices && { ...devices, now: devices.now * WHOLE, most: devices.most * WHOLE };
  if (amount > 0) return isWhole(whole, amount) ? inShares : parts;
  return inShares && inShares.most >= (parts?.most ?? 0) ? inShares : parts;
}
