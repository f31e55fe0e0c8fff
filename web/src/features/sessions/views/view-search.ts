import type { SavedView } from "@/api/types";
import { type SessionsSearch, sessionsSearch } from "@/routing/search";

/** The search parameters that a saved view holds; others open a drawer or a row. */
const VIEW_KEYS = [
  "q",
  "sort",
  "order",
  "state",
  "owner",
  "domain",
  "project",
  "group",
  "node",
  "kind",
  "by",
  "columns",
] as const satisfies readonly (keyof SessionsSearch)[];

/** No filter, order or choice of columns. */
export const NO_VIEW = Object.fromEntries(VIEW_KEYS.map((key) => [key, undefined])) as SessionsSearch;

/** What a view saves of the address. visible: the columns that are shown. */
export function viewOf(search: SessionsSearch, visible: readonly string[]): SavedView["search"] {
  const given = { ...search, columns: visible.join(",") };
  return Object.fromEntries(
    VIEW_KEYS.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])),
  );
}

/** The search parameters of the view's address. What this version does not know is left out. */
export function searchOf({ search }: Pick<SavedView, "search">): SessionsSearch {
  const known = sessionsSearch(search);
  return Object.fromEntries(
    VIEW_KEYS.flatMap((key) => (known[key] === undefined ? [] : [[key, known[key]]])),
  );
}

/** Whether the list shows the view as it was saved. */
export const shows = (search: SessionsSearch, view: Pick<SavedView, "search">): boolean => {
  const saved = searchOf(view);
  return VIEW_KEYS.every((key) => search[key] === saved[key]);
};

/** Whether there is anything to save. */
export const isFiltered = (search: SessionsSearch): boolean =>
  VIEW_KEYS.some((key) => search[key] !== undefined);
