import { useRef } from "react";

/** The value, or the last defined one, for closing drawers. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
