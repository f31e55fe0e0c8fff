import { useEffect } from "react";

const NEAR = 8;

/** Calls onNearEnd once the last rendered entry is near the end. last: its index, of `count` entries. */
export function useNearEnd(last: number, count: number, onNearEnd: (() => void) | undefined): void {
  useEffect(() => {
    if (count > 0 && last >= count - NEAR) onNearEnd?.();
  }, [last, count, onNearEnd]);
}
