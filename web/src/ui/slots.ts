import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { cliSize, formatCores, formatSize } from "./format";

const GIB = 2 ** 30;

const isShares = (slot: string): boolean => slot.endsWith(".shares");

/** The base units per display unit: a core, a GiB, a whole device. */
export function slotUnit(slot: string): number {
  if (slot === "mem") return GIB;
  return slot === "cpu" || isShares(slot) ? 1000 : 1;
}

/** The maximum number of decimals. */
export const slotDecimals = (slot: string): number => (slotUnit(slot) === 1 ? 0 : slot === "mem" ? 2 : 3);

/** "2", "4 GiB", "0.3": an amount without the slot's name. */
export function slotAmount(slot: string, amount: number): string {
  if (slot === "mem") return formatSize(amount);
  return slotUnit(slot) === 1 ? String(amount) : formatCores(amount);
}

/** "2 CPU", "4 GiB", "0.3 cuda.shares": an amount with the slot's name. */
export function slotText(slot: string, amount: number): string {
  if (slot === "mem") return formatSize(amount);
  return `${slotAmount(slot, amount)} ${slot === "cpu" ? "CPU" : slot}`;
}

/** "cpu=2", "mem=4g", "cuda.shares=0.3": an amount in CLI syntax. */
export const slotWord = (slot: string, amount: number): string =>
  `${slot}=${slot === "mem" ? cliSize(amount) : slotAmount(slot, amount)}`;

const FIRST = ["cpu", "mem"];

/** CPU and memory first, then the others by name, and the wildcard last. */
export function inSlotOrder(slots: Iterable<string>): string[] {
  const rank = (slot: string) => (slot === "*" ? 9 : FIRST.includes(slot) ? FIRST.indexOf(slot) : 5);
  return [...slots].sort((one, other) => rank(one) - rank(other) || one.localeCompare(other));
}

const NAMES: Readonly<Record<string, MessageDescriptor>> = {
  cpu: msg`CPU`,
  mem: msg`Memory`,
  "*": msg`All other slots`,
};

/** Display name of a slot; accelerators keep their technical name. */
export const slotTitle = (say: (message: MessageDescriptor) => string, slot: string): string =>
  NAMES[slot] ? say(NAMES[slot]) : slot;

export function useSlotName(): (slot: string) => string {
  const { i18n } = useLingui();
  return useCallback((slot) => slotTitle((message) => i18n._(message), slot), [i18n]);
}

/** The colour of a slot in charts. */
export const slotColor = (slot: string): string =>
  slot === "cpu" ? "var(--carrel-cpu)" : slot === "mem" ? "var(--carrel-mem)" : "var(--carrel-violet)";

/** Separator between amounts. */
export const SLOTS_JOINT = " · ";

/** "2 CPU", "4 GiB", "1 cuda.device": the amounts in slot order. */
export const slotsWords = (slots: Readonly<Record<string, number>>): string[] =>
  inSlotOrder(Object.keys(slots))
    .filter((slot) => slots[slot] || FIRST.includes(slot))
    .map((slot) => slotText(slot, slots[slot] ?? 0));
