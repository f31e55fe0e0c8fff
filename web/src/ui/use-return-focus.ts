import { useEffect, useRef } from "react";

/** Restores the focus after an overlay closes. */
export function useReturnFocus(opened: boolean): void {
  const before = useRef<HTMLElement | null>(null);
  useEffect(() => {
    if (opened) {
      before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      return;
    }
    const target = before.current;
    before.current = null;
    if (!target?.isConnected || target === document.body) return;
    // The closing drawer still holds the focus in this tick.
    const timer = setTimeout(() => {
      // A docked drawer has left it on the row of its last item.
      if (!document.activeElement?.matches("[data-index]")) target.focus();
    }, 0);
    return () => clearTimeout(timer);
  }, [opened]);
}
