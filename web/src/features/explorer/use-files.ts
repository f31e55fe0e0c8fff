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
  /** False when more was found than is shown. */
  complete: boolean;
  hasMore: boolean;
  loadingMore: boolean;
  more: () => void;
  /** How many the directory holds, loaded or not; of a search, how many are shown. */
  total: number;
  /** Loads all that the directory holds; false when that failed, or the person went elsewhere meanwhile. */
  loadAll: () => Promise<boolean>;
}

/** What a directory holds, or what is found below it while something is searched for. */
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
