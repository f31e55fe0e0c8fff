/**
 * What a list shows from top to bottom: a row with its index among the rows, the heading of the next ones, or what
 * is open below a row.
 */
export type TableEntry<T> = { row: T; index: number } | { heading: string; count: number } | { below: T };

interface Listed<T> {
  entries: TableEntry<T>[];
  /** The rows in the order of the entries. */
  ordered: T[];
  /** The index of a row's entry. */
  entryOf: (row: number) => number;
}

/** The rows under their headings, by name; under each, the rows keep their order. isOpen: whether a row is open. */
export function withHeadings<T>(
  rows: T[],
  headingOf: ((row: T) => string) | undefined,
  locale: string,
  isOpen: (row: T) => boolean = () => false,
): Listed<T> {
  if (!headingOf && !rows.some(isOpen)) {
    return { entries: rows.map((row, index) => ({ row, index })), ordered: rows, entryOf: (row) => row };
  }
  const collator = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  const members = new Map<string, T[]>();
  for (const row of rows) {
    const heading = headingOf?.(row) ?? "";
    members.get(heading)?.push(row) ?? members.set(heading, [row]);
  }
  const groups = [...members].toSorted(([a], [b]) => collator.compare(a, b));
  const entries: TableEntry<T>[] = [];
  const places: number[] = [];
  for (const [heading, below] of groups) {
    if (headingOf) entries.push({ heading, count: below.length });
    for (const row of below) {
      places.push(entries.length);
      entries.push({ row, index: places.length - 1 });
      if (isOpen(row)) entries.push({ below: row });
    }
  }
  return { entries, ordered: groups.flatMap(([, below]) => below), entryOf: (row) => places[row] ?? 0 };
}

/** The React key of an entry. */
export function keyOf<T>(
  entry: TableEntry<T> | undefined,
  index: number,
  rowId: (row: T) => string,
): string | number {
  if (entry === undefined) return index;
  if ("row" in entry) return rowId(entry.row);
  return "below" in entry ? `below:${rowId(entry.below)}` : `heading:${entry.heading}`;
}
