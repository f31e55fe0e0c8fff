import type { Node } from "@/api/types";

type Labels = Readonly<Record<string, string | null>>;

/** The newest CUDA that the driver of a node supports, as GPU feature discovery and administrators say it. */
export const CUDA_LABEL = "nvidia.com/cuda.runtime-version.full";

/** A label as in a selector. */
export const labelText = (key: string, value: string | null): string => (value ? `${key}=${value}` : key);

/** Labels as texts, by name. */
export const labelTexts = (labels: Labels): string[] =>
  Object.entries(labels)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([key, value]) => labelText(key, value));

/** The labels that such texts set. */
export const labelsOf = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    texts.map((text) => {
      const [key = "", ...value] = text.split("=");
      return [key.trim(), value.join("=").trim()];
    }),
  );

/** The labels to send: changed ones, and null for removed ones. */
export function changedLabels(before: Labels, now: Labels): Record<string, string | null> {
  const set = Object.entries(now).filter(([key, value]) => before[key] !== value);
  const removed = Object.keys(before).filter((key) => !(key in now));
  return Object.fromEntries([...set, ...removed.map((key) => [key, null] as const)]);
}

/** The words of `carrel node label`. */
export const labelWords = (changed: Labels): string[] =>
  Object.entries(changed).map(([key, value]) => (value === null ? `${key}-` : `${key}=${value}`));

/** The groups besides its own that select a node. */
export const otherGroups = (node: Node): string[] =>
  node.selected_by.filter(({ id }) => id !== node.group.id).map(({ name }) => name);
