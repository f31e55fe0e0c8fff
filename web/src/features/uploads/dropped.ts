import type { UploadSource } from "./tasks";

/** Dropped or selected items: files with their paths, empty directories, and unreadable items. */
export interface Dropped {
  files: UploadSource[];
  empty: string[];
  unread: string[];
}

/**
 * The files and directory trees that were dropped from the desktop.
 *
 * Call synchronously in the event handler: the browser clears the drop data afterwards.
 */
export function readDropped(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
    .filter((one) => one !== null);
  return walked(entries);
}

async function walked(entries: readonly (FileSystemEntry | File)[]): Promise<Dropped> {
  return together(
    await Promise.all(
      entries.map((entry) =>
        entry instanceof File
          ? { ...NOTHING, files: [{ path: entry.name, file: entry }] }
          : walk(entry, entry.name),
      ),
    ),
  );
}

/** Each file needs an asynchronous call: request all of a directory at once. */
async function walk(entry: FileSystemEntry, path: string): Promise<Dropped> {
  try {
    if (entry.isFile)
      return { ...NOTHING, files: [{ path, file: await fileOf(entry as FileSystemFileEntry) }] };
    const children = await childrenOf(entry as FileSystemDirectoryEntry);
    if (children.length === 0) return { ...NOTHING, empty: [path] };
    return together(await Promise.all(children.map((child) => walk(child, `${path}/${child.name}`))));
  } catch {
    return { ...NOTHING, unread: [path] };
  }
}

const NOTHING: Dropped = { files: [], empty: [], unread: [] };

const together = (parts: readonly Dropped[]): Dropped => ({
  files: parts.flatMap(({ files }) => files),
  empty: parts.flatMap(({ empty }) => empty),
  unread: parts.flatMap(({ unread }) => unread),
});

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** All entries of a directory: the browser returns a hundred at a time. */
async function childrenOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** The files of an input; those of a selected directory with their relative paths. */
export const readChosen = (files: Iterable<File>): Dropped => ({
  files: [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })),
  empty: [],
  unread: [],
});
