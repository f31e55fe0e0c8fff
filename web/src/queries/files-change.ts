import { filesCopy, filesMakeDirectory, filesMove, filesRemove } from "@/api/generated/sdk.gen";
import type { FilesCopy, FilesMove } from "@/api/generated/types.gen";
import { Problem } from "@/api/problem";
import type { FileEntry, FilesDone, FolderTask } from "@/api/types";
import { AT_ONCE } from "./files-content";
import { useChange } from "./use-change";

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
