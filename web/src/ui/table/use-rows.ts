import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

/** The rows of a paginated list, and loading more. */
export function useRows<T>({
  data,
  hasNextPage,
  isFetchingNextPage,
  fetchNextPage,
}: UseInfiniteQueryResult<InfiniteData<{ items: T[] }>>): { rows: T[]; more: () => void } {
  const rows = useMemo(() => (data?.pages ?? []).flatMap((page) => page.items), [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return { rows, more };
}
