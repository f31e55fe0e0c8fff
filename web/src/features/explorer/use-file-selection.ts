import { useEffect, useMemo, useState } from "react";
import type { FileEntry } from "@/api/types";

interface Chosen {
  paths: ReadonlySet<string>;
  /** Start of a range, and the row that keys act on. */
  anchor: string | null;
  focus: string | null;
}

export type How = "only" | "toggle" | "range" | "focus";

export interface FileSelection {
  has: (path: string) => boolean;
  /** The entry that the keys act on. */
  focused: string | null;
  entries: FileEntry[];
  /**
   * "only": selects just this one. "toggle": adds or removes it. "range": selects from the last one to this.
   */
  choose: (path: string, how: How) => void;
  /** Selects all entries of the directory, including those not loaded yet. */
  all: () => void;
  /** Whether "select all" is still loading entries. */
  gathering: boolean;
  clear: () => void;
}

const NOTHING: Chosen = { paths: new Set(), anchor: null, focus: null };

/** The selected files, by pointer and keyboard as on a desktop. Ignores deleted files. */
export function useFileSelection(
  entries: FileEntry[],
  /** Loads the remaining entries; false if that failed. */
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
