import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { filesList, filesSearch, filesShow } from "@/api/generated/sdk.gen";
import type { FilesListData } from "@/api/generated/types.gen";

export type FileSort = NonNullable<NonNullable<FilesListData["query"]>["sort"]>;

/** What a directory holds, directories first, page by page. */
export function filesListQuery(folder: string, path: string, sort: FileSort) {
  return infiniteQueryOptions({
    queryKey: ["files", "list", folder, path, sort] as const,
    queryFn: async ({ pageParam, signal }) =>
      (
        await filesList({
          path: { ref: folder },
          query: { path, sort, limit: 500, cursor: pageParam },
          signal,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // A session may write at any time, and says nothing about it.
    staleTime: 2_000,
  });
}

/** The directories in a directory, for a tree. */
export function directoriesQuery(folder: string, path: string) {
  return infiniteQueryOptions({
    queryKey: ["files", "directories", folder, path] as const,
    queryFn: async ({ pageParam, signal }) =>
      (
        await filesList({
          path: { ref: folder },
          query: { path, kind: "directory", limit: 200, cursor: pageParam },
          signal,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** What is found below a directory by a part of its name. */
export function filesFoundQuery(folder: string, path: string, q: string) {
  return queryOptions({
    queryKey: ["files", "found", folder, path, q] as const,
    queryFn: async ({ signal }) =>
      (await filesSearch({ path: { ref: folder }, query: { path, q, limit: 500 }, signal })).data,
  });
}

/** One file or directory. */
export function filesShowQuery(folder: string, path: string) {
  return queryOptions({
    queryKey: ["files", "show", folder, path] as const,
    queryFn: async ({ signal }) => (await filesShow({ path: { ref: folder }, query: { path }, signal })).data,
  });
}
