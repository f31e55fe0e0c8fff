import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo, useRef } from "react";
import type { FileEntry } from "@/api/types";
import { type FileSort, filesListQuery, filesSearchQuery } from "@/queries/files";
import type { FilesSearch } from "@/routing/search";

export interface Files {
  entries: FileEntry[];
  loading: boolean;
  problem: unknown;
  retry: () => void;
  /** False if the result is truncated. */
  complete: boolean;
  hasMore: boolean;
  loadingMore: boolean;
  more: () => void;
  /** Number of entries in the directory, loaded or not; for a search, the number of results shown. */
  total: number;
  /** Loads all entries of the directory; false if that failed or the user left the directory. */
  loadAll: () => Promise<boolean>;
}

/** The entries of a directory, or the search results below it. */
export function useFiles(folder: string, path: string, search: FilesSearch): Files {
  const q = useDeferredValue(search.q ?? "");
  const by = search.sort ?? "name";
  const sort: FileSort = search.order === "desc" ? `-${by}` : by;
  const list = useInfiniteQuery({ ...filesListQuery(folder, path, sort), enabled: q === "" });
  const query = useQuery({ ...filesSearchQuery(folder, path, q), enabled: q !== "" });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const entries = useMemo(
    () => (q ? (query.data?.items ?? []) : (list.data?.pages ?? []).flatMap((page) => page.items)),
    [q, query.data, list.data],
  );
  const viewKey = [folder, path, sort, q].join("\n");
  const here = useRef(viewKey);
  here.current = viewKey;
  const loadAll = useCallback(async () => {
    for (let left = q === "" && hasNextPage; left; ) {
      const { hasNextPage: further, isError } = await fetchNextPage();
      if (isError || here.current !== viewKey) return false;
      left = further;
    }
    return true;
  }, [q, viewKey, hasNextPage, fetchNextPage]);
  const active = q ? query : list;
  return {
    entries,
    loading: active.isPending,
    problem: active.error,
    retry: () => void active.refetch(),
    complete: q === "" || query.data?.complete !== false,
    hasMore: q === "" && hasNextPage,
    loadingMore: isFetchingNextPage,
    more,
    total: q === "" ? (list.data?.pages.at(-1)?.total ?? entries.length) : entries.length,
    loadAll,
  };
}
