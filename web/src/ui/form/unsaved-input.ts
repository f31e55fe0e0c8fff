import { createContext } from "react";

/** Tells the surrounding drawer or dialog how to find out about unsaved input; returns the way to leave it. */
export type WatchUnsaved = (unsaved: () => boolean) => () => void;

/** Absent outside of drawers and dialogs. */
export const UnsavedInput = createContext<WatchUnsaved | null>(null);
