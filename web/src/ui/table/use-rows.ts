import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";

/**
 * The rows of a paginated list, and loading more.
 *
 * Reads only what changes with the rows, so that a refetch with the same data renders nothing.
 */
export function useRows<T>({
  data,
  hasNextPage,
  fetchNextPage,
}: UseInfiniteQueryResult<InfiniteData<{ items: T[] }>>): { rows: T[]; more: () => void } {
  const rows = useMemo(() => (data?.pages ?? []).flatMap((page) => page.items), [data]);
  const pages = useRef(0);
  pages.current = data?.pages.length ?? 0;
  const more = useCallback(async () => {
    if (!hasNextPage) return;
    const before = pages.current;
    // A refetch in flight goes on; it may also have cancelled the next page, which is loaded afterwards.
    const after = await fetchNextPage({ cancelRefetch: false });
    if (after.isSuccess && after.data.pages.length === before) await fetchNextPage({ cancelRefetch: false });
  }, [hasNextPage, fetchNextPage]);
  return { rows, more };
}
