import {
  type KeyboardEvent as ReactKeyboardEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { isTyping, overlayIsOpen } from "@/ui/keys";

/** Row shortcuts by `event.key`; the browser handles other keys. */
export type RowActs = Readonly<Record<string, (() => void) | undefined>>;

interface Options<T> {
  rows: T[];
  container: RefObject<HTMLElement | null>;
  scrollTo: (index: number) => void;
  acts: (row: T) => RowActs;
  /** Index of the row in the open drawer, or -1. */
  opened: number;
  onOpen?: (row: T) => void;
  onToggle?: (index: number) => void;
}

export interface RowKeys {
  onFocus: (index: number) => void;
  onKeyDown: (event: ReactKeyboardEvent<HTMLElement>) => void;
}

/**
 * Keyboard navigation of rows, and shortcuts on the focused one.
 *
 * J and K work wherever the focus is, and step the open drawer; arrows also while nothing has the focus.
 *
 * Returns the row in the tab order, and handlers that are stable while the table is mounted.
 */
export function useRowKeys<T>(options: Options<T>): { current: number; keys: RowKeys } {
  const [current, setCurrent] = useState(0);
  // The current row, also while the focus is still moving there.
  const here = useRef(0);
  const latest = useRef(options);
  latest.current = options;

  const { keys, onPageKey } = useMemo(() => {
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
    return { keys: { onFocus, onKeyDown }, onPageKey: pageKeys(here, latest, focus) };
  }, []);
  useEffect(() => {
    document.addEventListener("keydown", onPageKey);
    return () => document.removeEventListener("keydown", onPageKey);
  }, [onPageKey]);
  const { opened, container } = options;
  useEffect(() => {
    if (opened < 0 || container.current?.contains(document.activeElement)) return;
    here.current = opened;
    setCurrent(opened);
  }, [opened, container]);

  return { current: Math.min(current, Math.max(0, options.rows.length - 1)), keys };
}

const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

/** Shortcuts while no row has the focus. */
function pageKeys<T>(
  here: RefObject<number>,
  latest: RefObject<Options<T>>,
  focus: (index: number) => void,
): (event: KeyboardEvent) => void {
  return (event) => {
    const by = STEPS[event.key];
    if (by === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const unfocused = document.activeElement === document.body;
    if ((event.key.length > 1 && !unfocused) || isTyping(event.target) || overlayIsOpen()) return;
    event.preventDefault();
    if (latest.current.opened >= 0) step(here.current + by, latest.current, focus);
    else focus(here.current);
  };
}

/** Moves to a row, and shows it in the drawer if that is open. */
function step<T>(index: number, { rows, opened, onOpen }: Options<T>, focus: (index: number) => void): void {
  focus(index);
  const row = rows[index];
  if (opened >= 0 && row !== undefined) onOpen?.(row);
}

/** The action of a shortcut on its row; undefined if it is not available. */
function actOf<T>(
  key: string,
  index: number,
  options: Options<T>,
  focus: (index: number) => void,
): (() => void) | undefined {
  const { rows, acts, onOpen, onToggle } = options;
  const row = rows[index];
  if (row === undefined) return undefined;
  switch (key) {
    case "ArrowDown":
      return () => focus(index + 1);
    case "ArrowUp":
      return () => focus(index - 1);
    case "j":
      return () => step(index + 1, options, focus);
    case "k":
      return () => step(index - 1, options, focus);
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
