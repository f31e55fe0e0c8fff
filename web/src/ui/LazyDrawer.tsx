import { type ReactNode, Suspense } from "react";
import { useLast } from "./use-last";

interface Props {
  /** The open item; undefined if none. */
  value: string | undefined;
  /** Renders the item, also during the closing animation. */
  children: (value: string, opened: boolean) => ReactNode;
}

/** A drawer that loads when it is first opened, and keeps its content until it has closed. */
export function LazyDrawer({ value, children }: Props) {
  const last = useLast(value);
  if (last === undefined) return null;
  return <Suspense fallback={null}>{children(last, value !== undefined)}</Suspense>;
}
