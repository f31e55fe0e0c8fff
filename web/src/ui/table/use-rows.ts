import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

/** The rows of a paginated list, and loading more. */
export function useRows<T>({
  data,
  hasNextPage,
  isFetching,
  fetchNextPage,
}: UseInfiniteQueryResult<InfiniteData<{ items: T[] }>>): { rows: T[]; more: () => void } {
  const rows = useMemo(() => (data?.pages ?? []).flatMap((page) => page.items), [data]);
  const more = useCallback(() => {
    // Not during a refetch, which may also have cancelled the next page: it is loaded afterwards.
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return { rows, more };
}
