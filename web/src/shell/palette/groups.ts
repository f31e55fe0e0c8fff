import type { EntryKind, PaletteEntry } from "./entry";
import { grouped, ranked, wordsOf } from "./match";

export interface EntryGroup {
  kind: EntryKind;
  entries: PaletteEntry[];
}

const MOST = 8;
const MOST_RECENT = 5;

/** What the palette lists for a query: the matches; without one, recent entries, actions, sessions and pages. */
export function groupsFor(
  entries: readonly PaletteEntry[],
  query: string,
  recent: readonly string[],
): EntryGroup[] {
  if (wordsOf(query).length > 0) return grouped(ranked(entries, query, recent), MOST);
  const lately = recent.flatMap((id) => entries.find((entry) => entry.id === id) ?? []).slice(0, MOST_RECENT);
  const others = grouped(
    entries.filter((entry) => atRest(entry) && !lately.includes(entry)),
    MOST,
  );
  return lately.length > 0 ? [{ kind: "recent", entries: lately }, ...others] : others;
}

/** Settings, tabs of pages and actions on objects are listed only when they are searched for. */
function atRest({ kind, id, section }: PaletteEntry): boolean {
  if (kind === "session") return id.startsWith("session:");
  return kind === "action" || (kind === "page" && section === undefined);
}
