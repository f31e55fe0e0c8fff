import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  filesCopy,
  filesDownload,
  filesLink,
  filesList,
  filesMakeDirectory,
  filesMove,
  filesRemove,
  filesSearch,
  filesShow,
  filesWrite,
} from "@/api/generated/sdk.gen";
import type { FilesCopy, FilesListData, FilesMove } from "@/api/generated/types.gen";
import { Problem } from "@/api/problem";
import type { FileEntry, FilesDone, FolderTask } from "@/api/types";
import { useChange } from "./use-change";

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
export function filesSearchQuery(folder: string, path: string, q: string) {
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

export const useMakeDirectory = () =>
  useChange<{ folder: string; path: string }, FileEntry>(
    async ({ folder, path }) => (await filesMakeDirectory({ path: { ref: folder }, body: { path } })).data,
    ["files"],
  );

/** One answer for any number of paths, asked for so many at once. */
async function inParts(paths: string[], act: (part: string[]) => Promise<FilesDone>): Promise<FilesDone> {
  const done: FilesDone = { paths: [], refused: [] };
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const part = await act(paths.slice(at, at + AT_ONCE)).catch(allRefused);
    done.paths.push(...part.paths);
    done.refused.push(...part.refused);
  }
  return done;
}

/** An answer of "no" to each of several paths, as an answer that says so of each; any other error stays one. */
function allRefused(thrown: unknown): FilesDone {
  const refused = thrown instanceof Problem ? thrown.details.refused : undefined;
  if (!Array.isArray(refused)) throw thrown;
  return { paths: [], refused };
}

/** Moves files within a folder, or renames one; the answer says of each whether it could be. */
export const useMoveFiles = () =>
  useChange<{ folder: string } & FilesMove, FilesDone>(
    ({ folder, paths, ...body }) =>
      inParts(
        paths,
        async (part) => (await filesMove({ path: { ref: folder }, body: { ...body, paths: part } })).data,
      ),
    ["files"],
  );

/** Copies files within a folder, or into `into`, an id of another; tasks do it, each so many. */
export const useCopyFiles = () =>
  useChange<{ folder: string; into?: string } & Omit<FilesCopy, "folder">, FolderTask[]>(
    async ({ folder, into, paths, ...body }) => {
      const tasks: FolderTask[] = [];
      for (let at = 0; at < paths.length; at += AT_ONCE) {
        const part = { ...body, paths: paths.slice(at, at + AT_ONCE), folder: into };
        tasks.push((await filesCopy({ path: { ref: folder }, body: part })).data);
      }
      return tasks;
    },
    ["files", "tasks"],
  );

export const useRemoveFiles = () =>
  useChange<{ folder: string; paths: string[] }, FilesDone>(
    ({ folder, paths }) =>
      inParts(
        paths,
        async (part) => (await filesRemove({ path: { ref: folder }, body: { paths: part } })).data,
      ),
    ["files", "folders", "tasks"],
  );

const NO_SUCH_RANGE = 416;

/** The beginning of a file. etag: of the whole file. whole: there is no more of it. */
export interface Beginning {
  bytes: Uint8Array;
  etag: string | null;
  complete: boolean;
}

/** The first `most` bytes of a file. */
export async function readBeginning(
  folder: string,
  path: string,
  most: number,
  signal?: AbortSignal,
): Promise<Beginning> {
  const ask = (headers: Record<string, string>) =>
    // The server alone knows whether it is still the same: nothing is kept by the browser.
    filesDownload({
      path: { ref: folder },
      query: { path },
      headers,
      parseAs: "arrayBuffer",
      cache: "no-store",
      signal,
    });
  const { data, response } = await ask({ Range: `bytes=0-${most - 1}` }).catch((problem) => {
    // An empty file has no first byte.
    if (problem instanceof Problem && problem.status === NO_SUCH_RANGE) return ask({});
    throw problem;
  });
  const bytes = new Uint8Array(data as unknown as ArrayBuffer);
  const all = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  return {
    bytes,
    etag: response.headers.get("ETag"),
    complete: all === undefined || Number(all) <= bytes.length,
  };
}

/** The beginning of a file as it was with that ETag: no change of the folder has it asked for again. */
export function contentQuery(folder: string, path: string, etag: string | null, most: number) {
  return queryOptions({
    queryKey: ["content", folder, path, etag, most] as const,
    queryFn: ({ signal }) => readBeginning(folder, path, most, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** A larger file is no text that people write. */
export const MOST_EDITED = 4 * 2 ** 20;

/** A file as it is now, to be changed; asked for once in each round, or what is being written would be lost. */
export function editedQuery(folder: string, path: string, round: number) {
  return queryOptions({
    queryKey: ["edited", folder, path, round] as const,
    queryFn: ({ signal }) => readBeginning(folder, path, MOST_EDITED, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnMount: "always",
  });
}

interface Written {
  folder: string;
  path: string;
  text: string;
  /** The file must still be this one; null: there must be none; undefined: whatever is there is replaced. */
  etag: string | null | undefined;
}

/** Writes a whole file; 412 when it is not the one that was meant. */
export const useWriteFile = () =>
  useChange<Written, FileEntry>(
    async ({ folder, path, text, etag }) =>
      (
        await filesWrite({
          path: { ref: folder },
          query: { path },
          body: new Blob([text]),
          headers: etag === null ? { "If-None-Match": "*" } : etag === undefined ? {} : { "If-Match": etag },
        })
      ).data,
    ["files"],
  );

/** The address of a file's bytes, for a picture of it. */
export const contentAddress = (folder: string, path: string, etag?: string | null): string =>
  `/api/v1/vfolders/${encodeURIComponent(folder)}/content?path=${encodeURIComponent(path)}` +
  (etag ? `&etag=${encodeURIComponent(etag)}` : "");

/** The most that the server takes at once. */
export const AT_ONCE = 1000;

/** Has the browser save a file, or a selection as a zip file, by a link that lives for a minute. */
export async function saveFiles(folder: string, paths: string[]): Promise<void> {
  if (paths.length > AT_ONCE)
    throw new Problem({ status: 422, code: "file.too_many", detail: "Too many items in one request." });
  const { data } = await filesLink({ path: { ref: folder }, body: { paths } });
  const link = document.createElement("a");
  link.href = data.url;
  link.download = "";
  link.click();
}
