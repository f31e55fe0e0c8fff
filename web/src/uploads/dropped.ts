import type { Wanted } from "./queue";

/** What was dropped or chosen: files with their paths, directories that hold nothing, and what could not be read. */
export interface Dropped {
  files: Wanted[];
  empty: string[];
  unread: string[];
}

/**
 * The files and whole trees that were dropped from the desktop.
 *
 * Must be called while the event is handled: a browser forgets what was dropped right after.
 */
export function readDropped(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
    .filter((one) => one !== null);
  return walked(entries);
}

async function walked(entries: readonly (FileSystemEntry | File)[]): Promise<Dropped> {
  const found: Dropped = { files: [], empty: [], unread: [] };
  for (const entry of entries) {
    if (entry instanceof File) found.files.push({ path: entry.name, file: entry });
    else await walk(entry, entry.name, found);
  }
  return found;
}

async function walk(entry: FileSystemEntry, path: string, found: Dropped): Promise<void> {
  try {
    if (entry.isFile) {
      found.files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
      return;
    }
    const children = await childrenOf(entry as FileSystemDirectoryEntry);
    if (children.length === 0) found.empty.push(path);
    for (const child of children) await walk(child, `${path}/${child.name}`, found);
  } catch {
    found.unread.push(path);
  }
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** Everything in a directory: a browser gives a hundred at a time. */
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

/** The files of an input; those of a chosen directory with their paths in it. */
export const readChosen = (files: Iterable<File>): Dropped => ({
  files: [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file })),
  empty: [],
  unread: [],
});
