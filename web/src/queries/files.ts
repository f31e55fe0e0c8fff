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

/** The entries of a directory, directories first, paginated. */
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
    // Sessions write at any time without an event.
    staleTime: 2_000,
  });
}

/** The subdirectories of a directory, for the tree. */
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

/** Search results below a directory, by a part of the name. */
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

/** Splits a request for many paths into chunks and joins the responses. */
async function inParts(paths: string[], act: (part: string[]) => Promise<FilesDone>): Promise<FilesDone> {
  const done: FilesDone = { paths: [], refused: [] };
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const part = await act(paths.slice(at, at + AT_ONCE)).catch(allRefused);
    done.paths.push(...part.paths);
    done.refused.push(...part.refused);
  }
  return done;
}

/** Converts an error response to a result per path; other errors are rethrown. */
function allRefused(thrown: unknown): FilesDone {
  const refused = thrown instanceof Problem ? thrown.details.refused : undefined;
  if (!Array.isArray(refused)) throw thrown;
  return { paths: [], refused };
}

/** Moves or renames files within a folder; the response has a result per path. */
export const useMoveFiles = () =>
  useChange<{ folder: string } & FilesMove, FilesDone>(
    ({ folder, paths, ...body }) =>
      inParts(
        paths,
        async (part) => (await filesMove({ path: { ref: folder }, body: { ...body, paths: part } })).data,
      ),
    ["files"],
  );

/** Copies files within a folder, or to the folder with the id `into`; in tasks of limited size. */
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

/** The start of a file. etag: of the whole file. whole: nothing is left to read. */
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
    // Do not let the browser cache: only the server knows whether the file changed.
    filesDownload({
      path: { ref: folder },
      query: { path },
      headers,
      parseAs: "arrayBuffer",
      cache: "no-store",
      signal,
    });
  const { data, response } = await ask({ Range: `bytes=0-${most - 1}` }).catch((problem) => {
    // An empty file has no satisfiable range.
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

/** The start of a file at this ETag: events of the folder do not refetch it. */
export function contentQuery(folder: string, path: string, etag: string | null, most: number) {
  return queryOptions({
    queryKey: ["content", folder, path, etag, most] as const,
    queryFn: ({ signal }) => readBeginning(folder, path, most, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

/** Larger files are not edited by hand. */
export const MOST_EDITED = 4 * 2 ** 20;

/** A file for editing; fetched once per round, since a refetch would discard edits. */
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
  /** The expected version; null: the file must not exist; undefined: overwrite any version. */
  etag: string | null | undefined;
}

/** Writes a whole file; 412 if the version is not the expected one. */
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

/** The URL of a file's content, for images. */
export const contentAddress = (folder: string, path: string, etag?: string | null): string =>
  `/api/v1/vfolders/${encodeURIComponent(folder)}/content?path=${encodeURIComponent(path)}` +
  (etag ? `&etag=${encodeURIComponent(etag)}` : "");

/** Maximum paths per request of the API. */
export const AT_ONCE = 1000;

/** Downloads a file, or a selection as a zip file, through a link that is valid for a minute. */
export async function saveFiles(folder: string, paths: string[]): Promise<void> {
  if (paths.length > AT_ONCE)
    throw new Problem({ status: 422, code: "file.too_many", detail: "Too many items in one request." });
  const { data } = await filesLink({ path: { ref: folder }, body: { paths } });
  const link = document.createElement("a");
  link.href = data.url;
  link.download = "";
  link.click();
}
