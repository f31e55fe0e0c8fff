import { createContext, useMemo } from "react";
import type { Session } from "@/api/types";
import type { ChangeAddress } from "@/routing/use-address";

/** The rows of the session list that are open in place. */
export interface OpenRows {
  has: (id: string) => boolean;
  toggle: (id: string) => void;
}

/** Null where rows do not open. */
export const OpenRowsContext = createContext<OpenRows | null>(null);

/** Whether the row of a session opens: an array, or a cluster. */
export const opens = ({ array, cluster_size }: Pick<Session, "array" | "cluster_size">): boolean =>
  array !== null || cluster_size > 1;

/** The id of what an open row shows below it. */
export const belowId = (id: string): string => `below-${id}`;

/** The open rows as the address holds them. */
export function useOpenRows(given: string | undefined, change: ChangeAddress<{ rows?: string }>): OpenRows {
  return useMemo(() => {
    const ids = new Set(given?.split(","));
    return {
      has: (id) => ids.has(id),
      toggle: (id) => {
        const next = new Set(ids);
        if (!next.delete(id)) next.add(id);
        change({ rows: [...next].join(",") || undefined }, true);
      },
    };
  }, [given, change]);
}
