import type { Device } from "@/api/types";
import { WHOLE } from "./load";

/** Devices that are near each other. */
export interface DeviceSet {
  key: string;
  number: number;
  /** They are connected without the PCI bus. */
  connected: boolean;
  /** The NUMA node of all of them; null: unknown, or several. */
  numa: number | null;
  devices: Device[];
}

/** The devices of a node by set and clique. */
export function deviceSets(devices: readonly Device[]): DeviceSet[] {
  const sets = new Map<string, DeviceSet & { family: string }>();
  for (const device of devices) {
    const key = JSON.stringify([device.family, device.set, device.clique]);
    const set = sets.get(key);
    if (!set) {
      const { family, set: number, clique, numa } = device;
      sets.set(key, { key, family, number, connected: clique !== "", numa, devices: [device] });
    } else {
      set.devices.push(device);
      if (set.numa !== device.numa) set.numa = null;
    }
  }
  return [...sets.values()].sort(
    (one, other) => one.family.localeCompare(other.family) || one.number - other.number,
  );
}

type Holder = Device["holders"][number];

/** As many as there are colours. */
const COLOURS = 5;

/** The number of the colour of each session; a session has the same on all devices. */
export function coloursOf(devices: readonly Device[]): ReadonlyMap<string, number> {
  const sessions = new Set(
    devices.flatMap(({ holders }) => holders.flatMap(({ session }) => (session ? [session.id] : []))),
  );
  return new Map([...sessions].map((id, index) => [id, index % COLOURS]));
}

/** The colour of a part; parts of sessions that are not shown have one of their own. */
export const colourOf = (holder: Holder, colours: ReadonlyMap<string, number>): number | "others" =>
  holder.session ? (colours.get(holder.session.id) ?? 0) : "others";

/** How many of the devices are free as a whole, and allocated in part; used: the sum, in thousandths. */
export function countsOf(devices: readonly Pick<Device, "used">[]) {
  const counts = { free: 0, broken: 0, used: 0 };
  for (const { used } of devices) {
    counts.used += used;
    if (used === 0) counts.free += 1;
    else if (used < WHOLE) counts.broken += 1;
  }
  return counts;
}
