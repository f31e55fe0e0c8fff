const TEXTS = import.meta.glob<string>(
  [
    "../../../../CHANGELOG.md",
    "../../../../docs/*.md",
    "../../../../docs/{tutorial,howto,explanation,reference,decisions}/*.md",
  ],
  { query: "?raw", import: "default", eager: true },
);
const PICTURES = import.meta.glob<string>("../../../../docs/images/*.png", {
  query: "?url",
  import: "default",
  eager: true,
});

const CHANGES = "CHANGELOG.md";
const INDEX = "docs/README.md";

export interface Document {
  /** Its path below /help, such as "howto/limits"; empty for the index. */
  path: string;
  title: string;
  text: string;
  /** Its file in the repository, such as "docs/howto/limits.md". */
  file: string;
}

function asDocument([key, source]: [string, string]): Document {
  const text = source.replaceAll(/<!--.*?-->\n?/gs, "");
  const file = key.replaceAll("../", "");
  const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? file;
  return { path: pathOf(file), title, text, file };
}

function pathOf(file: string): string {
  if (file === INDEX) return "";
  return file === CHANGES ? "changelog" : file.slice("docs/".length, -".md".length);
}

export const DOCUMENTS: ReadonlyMap<string, Document> = new Map(
  Object.entries(TEXTS).map((entry) => {
    const document = asDocument(entry);
    return [document.path, document];
  }),
);

const FILES = new Map([...DOCUMENTS.values()].map((document) => [document.file, document]));

/** The document and heading that a relative link in `from` leads to; null: none that is shown here. */
export function linked(from: Document, href: string): { path: string; hash: string } | null {
  const { pathname, hash } = new URL(href, `http://docs/${from.file}`);
  const document = FILES.get(decodeURIComponent(pathname.slice(1)));
  return document ? { path: document.path, hash: hash.slice(1) } : null;
}

/** The address of a picture in `from`; null if there is none. */
export function pictured(from: Document, source: string): string | null {
  const { pathname } = new URL(source, `http://docs/${from.file}`);
  return PICTURES[`../../../..${pathname}`] ?? null;
}

/** The id of a heading, as code hosting sites make it. */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

export interface Match {
  document: Document;
  /** The first line with one of the words; empty if only the title has them. */
  line: string;
}

/** The documents with all words of the query, those with most in the title first. */
export function searched(query: string): Match[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const inTitle = ({ title }: Document) => words.filter((word) => title.toLowerCase().includes(word)).length;
  return [...DOCUMENTS.values()]
    .filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)))
    .sort((one, other) => inTitle(other) - inTitle(one) || one.title.localeCompare(other.title))
    .map((document) => ({ document, line: lineWith(document.text, words) }));
}

function lineWith(text: string, words: string[]): string {
  const lines = text.split("\n").filter((line) => !line.startsWith("#") && !line.startsWith("!["));
  const has = (line: string) => words.filter((word) => line.toLowerCase().includes(word)).length;
  const best = lines.reduce((first, line) => (has(line) > has(first) ? line : first), "");
  return best.replaceAll(/[`*|[\]]|\([^)]*\.md[^)]*\)/g, "").trim();
}
