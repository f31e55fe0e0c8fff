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

const keyOf = (user: string) => `carrel.uploads.${user}`;

/** What this person began on this browser, by the address of the upload. */
export function begunUploads(user: string): Record<string, Begun> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(keyOf(user)) ?? "{}");
    return typeof found === "object" && found !== null ? (found as Record<string, Begun>) : {};
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

export function rememberUpload(user: string, url: string, begun: Begun): void {
  keep(user, { ...begunUploads(user), [url]: begun });
}

export function forgetUpload(user: string, url: string): void {
  const { [url]: gone, ...rest } = begunUploads(user);
  if (gone) keep(user, rest);
}

/** Whether this is the file that the upload was begun with, as far as a browser can tell. */
export const isSameFile = (begun: Begun, file: Pick<File, "name" | "size" | "lastModified">): boolean =>
  begun.name === file.name && begun.size === file.size && begun.modified === file.lastModified;
