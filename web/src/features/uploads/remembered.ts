/** An upload that was begun, by which it can be gone on with after a reload. */
export interface Begun {
  folder: { id: string; name: string };
  /** Where the file goes, relative to the folder. */
  path: string;
  /** What the file on this machine is known by. */
  name: string;
  size: number;
  modified: number;
}

/** How to let go of the uploads that this tab is at, by their addresses. */
const ours = new Map<string, () => void>();

const lockOf = (url: string) => `carrel.upload ${url}`;
const keyOf = (user: string) => `carrel.uploads.${user}`;

/** What this person began on this browser, by the address of the upload. */
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
    // Without storage an upload is over with the page.
  }
}

/** What this person began on this browser that no other tab is at. */
export async function lostUploads(user: string): Promise<Record<string, Begun>> {
  // A page that came without TLS, from another machine, has no locks.
  const locks = (await navigator.locks?.query())?.held ?? [];
  const elsewhere = new Set(locks.map(({ name }) => name));
  for (const url of ours.keys()) elsewhere.delete(lockOf(url));
  return Object.fromEntries(
    Object.entries(begunUploads(user)).filter(([url]) => !elsewhere.has(lockOf(url))),
  );
}

/** Remembers an upload, and says to the other tabs that this one is at it. */
export function rememberUpload(user: string, url: string, begun: Begun): void {
  keep(user, { ...begunUploads(user), [url]: begun });
  if (ours.has(url)) return;
  const over = new Promise<void>((resolve) => ours.set(url, resolve));
  void navigator.locks?.request(lockOf(url), () => over);
}

/** Says to the other tabs that this one is no longer at it; a page that is closed does so by itself. */
export function letGoOf(url: string): void {
  ours.get(url)?.();
  ours.delete(url);
}

export function forgetUpload(user: string, url: string): void {
  letGoOf(url);
  const { [url]: gone, ...rest } = begunUploads(user);
  if (gone) keep(user, rest);
}

/** Whether this is the file that the upload was begun with, as far as a browser can tell. */
export const isSameFile = (begun: Begun, file: Pick<File, "name" | "size" | "lastModified">): boolean =>
  begun.name === file.name && begun.size === file.size && begun.modified === file.lastModified;
