import { useMemo, useState } from "react";

/** The selected rows, for batch actions. */
export interface Selection<T> {
  has: (row: T) => boolean;
  selectable: (row: T) => boolean;
  toggle: (row: T) => void;
  toggleAll: (rows: T[]) => void;
  all: (rows: T[]) => boolean;
  some: (rows: T[]) => boolean;
  clear: () => void;
}

/** `selectable`: which rows can be selected. Both functions must be stable between renders. */
export function useSelection<T>(
  rowId: (row: T) => string,
  selectable: (row: T) => boolean = () => true,
): Selection<T> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return useMemo(() => {
    const has = (row: T) => ids.has(rowId(row));
    const all = (rows: T[]) => rows.some(selectable) && rows.filter(selectable).every(has);
    return {
      has,
      selectable,
      all,
      some: (rows) => rows.some(has) && !all(rows),
      toggle: (row) => selectable(row) && setIds((now) => toggled(now, rowId(row))),
      toggleAll: (rows) => setIds(all(rows) ? new Set() : new Set(rows.filter(selectable).map(rowId))),
      clear: () => setIds(new Set()),
    };
  }, [ids, rowId, selectable]);
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
