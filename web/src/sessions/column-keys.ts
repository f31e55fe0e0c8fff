import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

/** The columns a person may choose, in the order they are shown. The name is always there. */
export const COLUMN_KEYS = [
  "state",
  "name",
  "image",
  "slots",
  "cpu",
  "mem",
  "age",
  "project",
  "owner",
  "node",
  "created",
] as const;
export type ColumnKey = (typeof COLUMN_KEYS)[number];

export const DEFAULT_COLUMNS: ColumnKey[] = ["state", "name", "image", "slots", "cpu", "mem", "age"];

export const COLUMN_NAMES: Record<ColumnKey, MessageDescriptor> = {
  state: msg`State`,
  name: msg`Name`,
  image: msg`Image`,
  slots: msg`Slots`,
  cpu: msg`CPU`,
  mem: msg`Memory`,
  age: msg`Age`,
  project: msg`Project`,
  owner: msg`Owner`,
  node: msg`Node`,
  created: msg`Created`,
};
