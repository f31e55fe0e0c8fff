/** What the palette finds an entry by. */
export interface Searchable {
  id: string;
  /** The heading under which the entry is listed. */
  kind: string;
  title: string;
  /** Where the entry belongs, such as the page of a setting. */
  section?: string;
  /** Other words for it. A query that equals one of them counts as exact. */
  synonyms?: readonly string[];
}

/** How well an entry matches; smaller is better. */
const EXACT_TITLE = 0;
const EXACT_SYNONYM = 1;
const TITLE_START = 2;
const TITLE_WORDS = 3;
const SYNONYM_START = 4;
const ANY_WORDS = 5;

const NO_SPACES_BETWEEN_WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** The words of a text, lowercase. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLocaleLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/**
 * The entries that match every word of the query: exact matches first, then recently chosen ones, then the
 * others by how well they match. Equal ones keep their order.
 *
 * A word matches at the start of a word; anywhere in scripts without spaces between words.
 */
export function ranked<E extends Searchable>(
  entries: readonly E[],
  query: string,
  recent: readonly string[],
): E[] {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return entries
    .flatMap((entry) => {
      const tier = tierOf(entry, words);
      return tier === null ? [] : [{ entry, rank: rankOf(tier, recent.indexOf(entry.id)) }];
    })
    .sort((one, other) => compare(one.rank, other.rank))
    .map(({ entry }) => entry);
}

/** The entries under their headings, in the order of their best entries; at most `most` for each. */
export function grouped<E extends Searchable>(
  entries: readonly E[],
  most: number,
): { kind: E["kind"]; entries: E[] }[] {
  const groups = new Map<E["kind"], E[]>();
  for (const entry of entries) {
    const group = groups.get(entry.kind) ?? [];
    if (group.length < most) groups.set(entry.kind, [...group, entry]);
  }
  return [...groups].map(([kind, list]) => ({ kind, entries: list }));
}

/** The part of a query to search names by on the server: its longest word that is not a command or a kind. */
export function nameIn(query: string, commands: ReadonlySet<string>): string {
  const names = query
    .trim()
    .split(/\s+/)
    .filter((word) => wordsOf(word).some((part) => !commands.has(part)));
  return names.reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

function rankOf(tier: number, recency: number): number[] {
  const last = recency < 0 ? Number.MAX_SAFE_INTEGER : recency;
  if (tier <= EXACT_SYNONYM) return [0, tier, last];
  return recency < 0 ? [2, tier, last] : [1, 0, last];
}

function compare(one: number[], other: number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

function tierOf({ title, section = "", synonyms = [] }: Searchable, words: string[]): number | null {
  const query = words.join(" ");
  const titleWords = wordsOf(title);
  const titleText = titleWords.join(" ");
  const phrases = synonyms.map((phrase) => wordsOf(phrase).join(" "));
  if (titleText === query) return EXACT_TITLE;
  if (phrases.includes(query)) return EXACT_SYNONYM;
  if (titleText.startsWith(query)) return TITLE_START;
  if (words.every((word) => holds(titleWords, word))) return TITLE_WORDS;
  if (phrases.some((phrase) => phrase.startsWith(query))) return SYNONYM_START;
  const all = [...titleWords, ...wordsOf(section), ...phrases.flatMap(wordsOf)];
  return words.every((word) => holds(all, word)) ? ANY_WORDS : null;
}

function holds(words: string[], part: string): boolean {
  return words.some((word) =>
    NO_SPACES_BETWEEN_WORDS.test(part) ? word.includes(part) : word.startsWith(part),
  );
}
