import type { Node, Slots } from "@/api/types";
import { inSlotOrder } from "@/ui/slots";

/** One device, in shares. */
export const WHOLE = 1000;

/** Used fraction of the capacity or limit, from 0; above 1 if it was reduced; 0 without a limit. */
export function share(used: number, offered: number | null): number {
  if (offered === null) return 0;
  if (offered > 0) return used / offered;
  return used > 0 ? 1 : 0;
}

/** One of five shades for a load: 0 for none, 4 for nearly full. */
export function shade(load: number): 0 | 1 | 2 | 3 | 4 {
  if (load <= 0) return 0;
  if (load < 0.4) return 1;
  if (load < 0.7) return 2;
  return load < 0.9 ? 3 : 4;
}

/** The usage of one resource. name: the slot, or the device family. */
export interface Load {
  name: string;
  /** The slot whose unit the amounts use. */
  slot: string;
  used: number;
  /** Capacity or limit. */
  offered: number;
}

/** The same under a limit; null: unlimited. */
export type LimitedLoad = Omit<Load, "offered"> & { offered: number | null };

/** The loads of accelerators. */
export const acceleratorsOf = (loads: readonly LimitedLoad[]): readonly LimitedLoad[] =>
  loads.filter(({ name }) => name !== "cpu" && name !== "mem");

/**
 * The usage of a project, domain or user: CPU, memory, and what else is limited or allocated.
 *
 * @param limits by slot; null: unlimited; "*": slots that are not listed.
 */
export function limitLoads(used: Slots, limits: Readonly<Record<string, number | null>>): LimitedLoad[] {
  const limit = (slot: string) => (slot in limits ? limits[slot] : limits["*"]) ?? null;
  const limited = Object.keys(limits).filter((slot) => slot !== "*" && limits[slot]);
  return inSlotOrder(new Set(["cpu", "mem", ...Object.keys(used), ...limited])).map((slot) => ({
    name: slot,
    slot,
    used: used[slot] ?? 0,
    offered: limit(slot),
  }));
}

/**
 * The usage of each resource of a node, CPU and memory first.
 *
 * Accelerators are counted by device: the slots of a family share the same devices, so only their sum is the
 * usage. The unit is thousandths if devices can be shared.
 */
export function loadsOf({ offered, used, devices }: Pick<Node, "offered" | "used" | "devices">): Load[] {
  const families = [...new Set(devices.map(({ family }) => family))].sort();
  const ofFamily = (slot: string) => devices.some(({ slots }) => slots[slot] !== undefined);
  return [
    ...inSlotOrder(Object.keys(offered))
      .filter((slot) => !ofFamily(slot))
      .map((slot) => ({ name: slot, slot, used: used[slot] ?? 0, offered: offered[slot] ?? 0 })),
    ...families.map((family) => {
      const mine = devices.filter((device) => device.family === family);
      const held = mine.reduce((sum, device) => sum + device.used, 0);
      const { slot, unit } = finest(mine[0]?.slots ?? {});
      return { name: family, slot, used: held / unit, offered: (mine.length * WHOLE) / unit };
    }),
  ];
}

/** The used parts of a machine's processors and memory, by whatever runs on it; null: not measured. */
export function hostShares({
  host,
  slots,
}: Pick<Node, "host" | "slots">): { cpu: number; mem: number } | null {
  return host && { cpu: share(host.cpu, slots.cpu ?? 0), mem: share(host.mem, slots.mem ?? 0) };
}

/** The slot that allocates the smallest part of a device, and that part in thousandths. */
export function finest(slots: Slots): { slot: string; unit: number } {
  const [slot, unit] = Object.entries(slots).sort(([, one], [, other]) => one - other)[0] ?? ["", WHOLE];
  return { slot, unit };
}

/** The usage of each resource of a group; whole devices and shares of a family are summed, as on a node. */
export function groupLoads({ used, capacity }: { used: Slots; capacity: Slots }): Load[] {
  const families = Object.keys(capacity)
    .filter((slot) => slot.endsWith(".shares") && capacity[slot.replace(/shares$/, "device")] !== undefined)
    .map((slot) => slot.slice(0, -".shares".length));
  const ofFamily = (slot: string) =>
    families.some((family) => [`${family}.device`, `${family}.shares`].includes(slot));
  return [
    ...inSlotOrder(Object.keys(capacity).filter((slot) => !ofFamily(slot))).map((slot) => ({
      name: slot,
      slot,
      used: used[slot] ?? 0,
      offered: capacity[slot] ?? 0,
    })),
    ...families.sort().map((family) => ({
      name: family,
      slot: `${family}.shares`,
      used: (used[`${family}.device`] ?? 0) * WHOLE + (used[`${family}.shares`] ?? 0),
      offered: capacity[`${family}.shares`] ?? 0,
    })),
  ];
}

/** The resources that at least one of the nodes has. */
export const kindsOf = (nodes: readonly Pick<Node, "offered" | "used" | "devices">[]): string[] =>
  inSlotOrder(new Set(nodes.flatMap((node) => loadsOf(node).map(({ name }) => name))));

/** The load of a node for one resource; without a name, for the scarcest one. */
export function loadOf(node: Pick<Node, "offered" | "used" | "devices">, kind: string | undefined): number {
  const loads = loadsOf(node).filter(({ name }) => kind === undefined || name === kind);
  return Math.max(0, ...loads.map(({ used, offered }) => share(used, offered)));
}

/** The nodes by group name. */
export function byGroup<N extends Pick<Node, "group">>(nodes: readonly N[]): [string, N[]][] {
  const groups = new Map<string, N[]>();
  for (const node of nodes) groups.set(node.group.name, [...(groups.get(node.group.name) ?? []), node]);
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}
