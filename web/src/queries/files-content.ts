import { queryOptions } from "@tanstack/react-query";
import { filesDownload, filesLink, filesWrite } from "@/api/generated/sdk.gen";
import { Problem } from "@/api/problem";
import type { FileEntry } from "@/api/types";
import { useChange } from "./use-change";

const NO_SUCH_RANGE = 416;

/** The beginning of a file. etag: of the whole file. whole: there is no more of it. */
export interface Beginning {
  bytes: Uint8Array;
  etag: string | null;
  whole: boolean;
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
    whole: all === undefined || Number(all) <= bytes.length,
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
