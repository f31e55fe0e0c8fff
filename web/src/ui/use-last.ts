import { useRef } from "react";

/** The value, or the last one there was: what a closing drawer still shows. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
