export const IMPORT_KINDS = ["notebook", "git", "archive", "model", "dataset", "space"] as const;
export const IMPORT_CREDENTIALS = ["token", "key"] as const;

/** An import as an address holds it. Secrets are no part of it. */
export interface ImportLink {
  url?: string;
  kind?: (typeof IMPORT_KINDS)[number];
  ref?: string;
  path?: string;
  /** Id of the folder to fetch into. */
  folder?: string;
  install?: true;
  /** What opens a private source. */
  credentials?: (typeof IMPORT_CREDENTIALS)[number];
}

const TEXTS = ["url", "ref", "path", "folder"] as const;

/** The valid part of an address; always with its fields in the same order. */
export function importLink(raw: Record<string, unknown>): ImportLink {
  const link: ImportLink = {};
  for (const field of TEXTS) {
    const value = raw[field];
    if (typeof value === "string" || typeof value === "number") link[field] = String(value) || undefined;
    else link[field] = undefined;
  }
  link.kind = IMPORT_KINDS.find((one) => one === raw.kind);
  link.install = raw.install === true ? true : undefined;
  link.credentials = IMPORT_CREDENTIALS.find((one) => one === raw.credentials);
  return link;
}

/** The import that the launcher begins from; undefined if there is none. */
export function importOf(raw: unknown): ImportLink | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  const link = importLink(raw as Record<string, unknown>);
  return link.url ? link : undefined;
}

/** What the launcher keeps the variables of an import under. */
export const importOrigin = (link: ImportLink): string => `import ${JSON.stringify(importLink({ ...link }))}`;

/** Left by `encodeURIComponent`, and at an end of something in Markdown or HTML. */
const MARKDOWN = /['()*]/g;

/** The address of the page for an import, on this origin. Numbers are quoted, as the router reads them as numbers. */
export function importAddress(origin: string, link: ImportLink): string {
  const { url, kind, ref, path } = link;
  const given = Object.entries({ url, kind, ref, path }).filter((one): one is [string, string] => !!one[1]);
  const query = given.map(([name, value]) => {
    const text = Number.isNaN(Number(value)) ? value : JSON.stringify(value);
    return `${name}=${encodeURIComponent(text).replace(MARKDOWN, (one) => `%${one.charCodeAt(0).toString(16)}`)}`;
  });
  return `${origin}/import?${query.join("&")}`;
}
