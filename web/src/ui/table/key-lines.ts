import { useEffect, useSyncExternalStore } from "react";

export type KeyLine = readonly [keys: string[], what: string];

/** The shortcuts of the mounted components, in the order in which these were mounted. */
const mounted = new Map<symbol, readonly KeyLine[]>();
const listeners = new Set<() => void>();
let helpOpen = false;

/** Lists the shortcuts in the help while the component is mounted. */
export function useKeyLines(lines: readonly KeyLine[]): void {
  const text = JSON.stringify(lines);
  useEffect(() => {
    const key = Symbol();
    mounted.set(key, JSON.parse(text));
    return () => void mounted.delete(key);
  }, [text]);
}

export const keyLines = (): KeyLine[] => [...mounted.values()].flat();

export function setKeyHelp(open: boolean): void {
  helpOpen = open;
  for (const listener of listeners) listener();
}

/** Whether the help of the keyboard shortcuts is open. */
export function useKeyHelpOpen(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => helpOpen,
  );
}
