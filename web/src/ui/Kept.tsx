import { type ReactNode, Suspense } from "react";
import { useLast } from "./use-last";

interface Props {
  /** What is open; undefined when nothing is. */
  value: string | undefined;
  /** Draws it, also while it closes. */
  children: (value: string, opened: boolean) => ReactNode;
}

/** A drawer that is loaded when it is first opened, and shows the same until it has closed. */
export function Kept({ value, children }: Props) {
  const last = useLast(value);
  if (last === undefined) return null;
  return <Suspense fallback={null}>{children(last, value !== undefined)}</Suspense>;
}
