import { useLingui } from "@lingui/react/macro";
import type { KeyboardEvent } from "react";
import type { FileEntry } from "@/api/types";
import { useKeyLines } from "@/ui/table/key-lines";
import type { FileSelection } from "./use-file-selection";

interface Options {
  entries: FileEntry[];
  selection: FileSelection;
  scrollTo: (index: number) => void;
  /** Focuses a row once it is rendered. */
  focusRow: (index: number) => void;
  onOpen: (entry: FileEntry) => void;
  onUp: () => void;
  onRename: (entry: FileEntry) => void;
  onRemove: () => void;
}

const PAGE = 15;

/**
 * Keyboard shortcuts of the file list, as in desktop file managers.
 *
 * Arrows move, Shift+arrows select a range, Ctrl+arrows move without selecting; Space selects one, Ctrl+A
 * all; Enter opens, Backspace goes up, F2 renames, Delete deletes, Escape clears the selection.
 */
export function useFileKeys(options: Options): (event: KeyboardEvent<HTMLElement>) => void {
  const { t } = useLingui();
  const { entries, selection, scrollTo, focusRow } = options;
  useKeyLines([
    [["↑", "↓"], t`Move between rows`],
    [["Enter"], t`Open`],
    [["⌫"], t`Go up`],
    [["Shift", "↓"], t`Select a range`],
    [["Space"], t`Select`],
    [["Ctrl", "A"], t`Select all`],
    [["F2"], t`Rename`],
    [["Delete"], t`Delete`],
  ]);
  return (event) => {
    if (event.target instanceof Element && event.target.closest("input, textarea, [role=menu]")) return;
    const at = entries.findIndex(({ path }) => path === selection.focused);
    const entry = entries[at];
    const mod = event.ctrlKey || event.metaKey;
    const go = (to: number) => {
      const index = Math.max(0, Math.min(entries.length - 1, to));
      const next = entries[index];
      if (!next) return;
      selection.choose(next.path, event.shiftKey ? "range" : mod ? "focus" : "only");
      scrollTo(index);
      focusRow(index);
    };
    const act = (() => {
      switch (event.key) {
        case "ArrowDown":
          return () => go(at + 1);
        case "ArrowUp":
          return () => go(at < 0 ? 0 : at - 1);
        case "PageDown":
          return () => go(at + PAGE);
        case "PageUp":
          return () => go(at - PAGE);
        case "Home":
          return () => go(0);
        case "End":
          return () => go(entries.length - 1);
        case " ":
          return entry && (() => selection.choose(entry.path, "toggle"));
        case "a":
          return mod ? selection.all : undefined;
        case "Escape":
          return selection.entries.length > 0 ? selection.clear : undefined;
        case "Backspace":
          return options.onUp;
        case "Enter":
          // A button in the row handles Enter itself.
          return entry && event.target === event.currentTarget ? () => options.onOpen(entry) : undefined;
        case "F2":
          return entry && (() => options.onRename(entry));
        case "Delete":
          return selection.entries.length > 0 ? options.onRemove : undefined;
        default:
          return undefined;
      }
    })();
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}
