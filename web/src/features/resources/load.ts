import type { Node, Slots } from "@/api/types";
import { inSlotOrder } from "@/ui/slots";

/** What one device is, in the unit of shares. */
export const WHOLE = 1000;

/** How much of what is offered is held, from 0 on; more than 1 where the offer was made smaller. */
export function share(used: number, offered: number): number {
  if (offered > 0) return used / offered;
  return used > 0 ? 1 : 0;
}

/** Which of five shades a load has: 0 for nothing, 4 for nearly full. */
export function shade(load: number): 0 | 1 | 2 | 3 | 4 {
  if (load <= 0) return 0;
  if (load < 0.4) return 1;
  if (load < 0.7) return 2;
  return load < 0.9 ? 3 : 4;
}

/** What is held of one kind of thing on a node. name: the slot, or the family of its accelerators. */
export interface Load {
  name: string;
  /** The slot by whose unit the amounts are written. */
  slot: string;
  used: number;
  offered: number;
}

/**
 * What is held of each kind on a node, CPU and memory first.
 *
 * Accelerators are counted by device: the slots of a family are taken from the same devices, and only together they say
 * how much of it is taken. In thousandths, where parts of a device can be had.
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

/** The slot of a device by which least of it can be had, and how many thousandths that is. */
export function finest(slots: Slots): { slot: string; unit: number } {
  const [slot, unit] = Object.entries(slots).sort(([, one], [, other]) => one - other)[0] ?? ["", WHOLE];
  return { slot, unit };
}

/** What is held of each kind in a whole group; whole devices and parts of one family are added up, as on a node. */
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

/** The kinds of which one of the nodes has something. */
export const kindsOf = (nodes: readonly Pick<Node, "offered" | "used" | "devices">[]): string[] =>
  inSlotOrder(new Set(nodes.flatMap((node) => loadsOf(node).map(({ name }) => name))));

/** How full a node is of one kind; without a kind: of the one that is the scarcest on it. */
export function loadOf(node: Pick<Node, "offered" | "used" | "devices">, kind: string | undefined): number {
  const loads = loadsOf(node).filter(({ name }) => kind === undefined || name === kind);
  return Math.max(0, ...loads.map(({ used, offered }) => share(used, offered)));
}

/** The nodes of each group, by the groups' names. */
export function byGroup<N extends Pick<Node, "group">>(nodes: readonly N[]): [string, N[]][] {
  const groups = new Map<string, N[]>();
  for (const node of nodes) groups.set(node.group.name, [...(groups.get(node.group.name) ?? []), node]);
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}
