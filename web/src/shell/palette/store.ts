import { useSyncExternalStore } from "react";

let opened = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  opened = next;
  for (const listener of listeners) listener();
}

/** Opens and closes the command palette from anywhere. */
export const palette = {
  open: () => set(true),
  close: () => set(false),
  toggle: () => set(!opened),
};

export const usePaletteOpened = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => opened,
  );
