/** An unfinished upload that can be resumed after a reload. */
export interface Begun {
  folder: { id: string; name: string };
  /** Target path, relative to the folder. */
  path: string;
  /** Identifies the local file. */
  name: string;
  size: number;
  modified: number;
}

/** Functions that release the locks of this tab's uploads, by upload URL. */
const ours = new Map<string, () => void>();

const lockOf = (url: string) => `carrel.upload ${url}`;
const keyOf = (user: string) => `carrel.uploads.${user}`;

/** This user's unfinished uploads in this browser, by upload URL. */
export function begunUploads(user: string): Record<string, Begun> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(user)) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as Record<string, Begun>) : {};
  } catch {
    return {};
  }
}

function keep(user: string, begun: Record<string, Begun>): void {
  try {
    localStorage.setItem(keyOf(user), JSON.stringify(begun));
  } catch {
    // Without storage, uploads end with the page.
  }
}

/** This user's unfinished uploads in this browser that no other tab is sending. */
export async function lostUploads(user: string): Promise<Record<string, Begun>> {
  // A page from another machine without TLS has no Web Locks.
  const locks = (await navigator.locks?.query())?.held ?? [];
  const elsewhere = new Set(locks.map(({ name }) => name));
  for (const url of ours.keys()) elsewhere.delete(lockOf(url));
  return Object.fromEntries(
    Object.entries(begunUploads(user)).filter(([url]) => !elsewhere.has(lockOf(url))),
  );
}

/** Stores an upload, and locks it against other tabs. */
export function rememberUpload(user: string, url: string, begun: Begun): void {
  keep(user, { ...begunUploads(user), [url]: begun });
  if (ours.has(url)) return;
  const over = new Promise<void>((resolve) => ours.set(url, resolve));
  void navigator.locks?.request(lockOf(url), () => over);
}

/** Releases the lock of an upload; closing the page does so as well. */
export function releaseLock(url: string): void {
  ours.get(url)?.();
  ours.delete(url);
}

export function forgetUpload(user: string, url: string): void {
  releaseLock(url);
  const { [url]: gone, ...rest } = begunUploads(user);
  if (gone) keep(user, rest);
}

/** Whether this is the file of the unfinished upload, as far as the browser can tell. */
export const isSameFile = (begun: Begun, file: Pick<File, "name" | "size" | "lastModified">): boolean =>
  begun.name === file.name && begun.size === file.size && begun.modified === file.lastModified;
