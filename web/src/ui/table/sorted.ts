import type { Column } from "./column";
import type { Sorting } from "./SortHeader";

/** The rows in the requested order, or unsorted. Rows without a value come last in both directions. */
export function sorted<T>(
  rows: T[],
  columns: readonly Column<T>[],
  sorting: Sorting | undefined,
  locale: string,
): T[] {
  const column = columns.find(({ key, sortable }) => sortable && key === sorting?.sort);
  if (!column) return rows;
  const turn = sorting?.order === "desc" ? -1 : 1;
  const collator = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  return rows.toSorted((one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return (a - b) * turn;
    return collator.compare(String(a), String(b)) * turn;
  });
}

/** The sort key for the server: the column in the URL, or nothing if the list has no such column. */
export function serverSort<T>(columns: readonly Column<T>[], { sort, order }: Sorting): string | undefined {
  if (!columns.some(({ key, sortable }) => sortable && key === sort)) return undefined;
  return order === "desc" ? `-${sort}` : sort;
}
