/** The options by name, including selected ones that are no longer available. */
export function withNamed<T extends { id: string }>(
  offered: readonly T[] | undefined,
  named: readonly T[],
  label: (one: T) => string,
): { value: string; label: string }[] {
  const known = new Map([...named, ...(offered ?? [])].map((one) => [one.id, one]));
  return [...known.values()]
    .map((one) => ({ value: one.id, label: label(one) }))
    .sort((one, other) => one.label.localeCompare(other.label));
}
