import { useEffect, useMemo, useState } from "react";
import type { FileEntry } from "@/api/types";

interface Chosen {
  paths: ReadonlySet<string>;
  /** Where a range begins, and the one that the keys act on. */
  anchor: string | null;
  focus: string | null;
}

export type How = "only" | "toggle" | "range" | "focus";

export interface FileSelection {
  has: (path: string) => boolean;
  /** The entry that the keys act on. */
  focused: string | null;
  entries: FileEntry[];
  /** "only": this one and no other. "toggle": this one too, or no more. "range": from the last one to this. */
  choose: (path: string, how: How) => void;
  /** Chooses all that the directory holds, also what is not loaded yet. */
  all: () => void;
  /** What is not loaded yet is on its way, to be chosen. */
  gathering: boolean;
  clear: () => void;
}

const NOTHING: Chosen = { paths: new Set(), anchor: null, focus: null };

/** Which files a person has chosen, by pointer and by keys as on a desktop. Those that are gone count for nothing. */
export function useFileSelection(
  entries: FileEntry[],
  /** Brings the entries that are not loaded yet; false when it did not. */
  loadAll: () => Promise<boolean>,
): FileSelection {
  const [chosen, setChosen] = useState<Chosen>(NOTHING);
  const [gathering, setGathering] = useState<"loading" | "loaded" | null>(null);
  useEffect(() => {
    if (gathering !== "loaded") return;
    setGathering(null);
    setChosen((now) => ({ ...now, paths: new Set(entries.map(({ path }) => path)) }));
  }, [gathering, entries]);
  return useMemo(() => {
    const indexOf = (path: string | null) => entries.findIndex((entry) => entry.path === path);
    const range = (from: string | null, to: string) => {
      const ends = [indexOf(from), indexOf(to)].sort((one, other) => one - other);
      const [first = 0, last = 0] = ends;
      return new Set(entries.slice(Math.max(0, first), last + 1).map(({ path }) => path));
    };
    return {
      has: (path) => chosen.paths.has(path),
      focused: chosen.focus,
      entries: entries.filter(({ path }) => chosen.paths.has(path)),
      choose: (path, how) =>
        setChosen((now) => {
          if (how === "focus") return { ...now, focus: path };
          if (how === "range") return { ...now, paths: range(now.anchor ?? path, path), focus: path };
          if (how === "only") return { paths: new Set([path]), anchor: path, focus: path };
          const paths = new Set(now.paths);
          if (!paths.delete(path)) paths.add(path);
          return { paths, anchor: path, focus: path };
        }),
      all: () => {
        setGathering("loading");
        void loadAll().then((came) => setGathering(came ? "loaded" : null));
      },
      gathering: gathering !== null,
      clear: () => setChosen((now) => ({ ...now, paths: new Set(), anchor: null })),
    };
  }, [chosen, entries, gathering, loadAll]);
}
