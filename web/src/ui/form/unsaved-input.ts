import { createContext, useContext, useEffect, useRef } from "react";

/** Tells the surrounding drawer or dialog how to find out about unsaved input; returns the way to leave it. */
export type WatchUnsaved = (unsaved: () => boolean) => () => void;

/** Absent outside of drawers and dialogs. */
export const UnsavedInput = createContext<WatchUnsaved | null>(null);

/** Lets the surrounding drawer or dialog ask before the input is lost; `unsaved` may change between renders. */
export function useUnsavedInput(unsaved: () => boolean): void {
  const watch = useContext(UnsavedInput);
  const latest = useRef(unsaved);
  latest.current = unsaved;
  useEffect(() => watch?.(() => latest.current()), [watch]);
}
