import { type KeyboardEvent, type RefObject, useMemo, useRef, useState } from "react";

/** Row shortcuts by `event.key`; the browser handles other keys. */
export type RowActs = Readonly<Record<string, (() => void) | undefined>>;

interface Options<T> {
  rows: T[];
  container: RefObject<HTMLElement | null>;
  scrollTo: (index: number) => void;
  acts: (row: T) => RowActs;
  onOpen?: (row: T) => void;
  onToggle?: (index: number) => void;
}

export interface RowKeys {
  onFocus: (index: number) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

/**
 * Keyboard navigation of rows, and shortcuts on the focused one.
 *
 * Returns the row in the tab order, and handlers that are stable while the table is mounted.
 */
export function useRowKeys<T>(options: Options<T>): { current: number; keys: RowKeys } {
  const [current, setCurrent] = useState(0);
  // The current row, also while the focus is still moving there.
  const here = useRef(0);
  const latest = useRef(options);
  latest.current = options;

  const keys = useMemo<RowKeys>(() => {
    const focus = (index: number) => {
      const { rows, scrollTo, container } = latest.current;
      const next = Math.max(0, Math.min(rows.length - 1, index));
      here.current = next;
      setCurrent(next);
      scrollTo(next);
      // The row may be rendered only after the scroll; by then another key may have moved further.
      requestAnimationFrame(() => {
        if (here.current !== next) return;
        container.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus();
      });
    };
    const onFocus: RowKeys["onFocus"] = (index) => {
      here.current = index;
      setCurrent(index);
    };
    const onKeyDown: RowKeys["onKeyDown"] = (event) => {
      if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = actOf(event.key, here.current, latest.current, focus);
      if (!act) return;
      event.preventDefault();
      act();
    };
    return { onFocus, onKeyDown };
  }, []);

  return { current: Math.min(current, Math.max(0, options.rows.length - 1)), keys };
}

/** The action of a shortcut on its row; undefined if it is not available. */
function actOf<T>(
  key: string,
  index: number,
  { rows, acts, onOpen, onToggle }: Options<T>,
  focus: (index: number) => void,
): (() => void) | undefined {
  const row = rows[index];
  if (row === undefined) return undefined;
  switch (key) {
    case "ArrowDown":
    case "j":
      return () => focus(index + 1);
    case "ArrowUp":
    case "k":
      return () => focus(index - 1);
    case "Home":
      return () => focus(0);
    case "End":
      return () => focus(rows.length - 1);
    case "Enter":
      return onOpen && (() => onOpen(row));
    case "x":
    case " ":
      return onToggle && (() => onToggle(index));
    default:
      return acts(row)[key];
  }
}
