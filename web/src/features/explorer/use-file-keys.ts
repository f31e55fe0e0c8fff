import type { KeyboardEvent } from "react";
import type { FileEntry } from "@/api/types";
import type { FileSelection } from "./use-file-selection";

interface Options {
  entries: FileEntry[];
  selection: FileSelection;
  scrollTo: (index: number) => void;
  /** Puts the browser's focus on a row once it is in the document. */
  focusRow: (index: number) => void;
  onOpen: (entry: FileEntry) => void;
  onUp: () => void;
  onRename: (entry: FileEntry) => void;
  onRemove: () => void;
}

const PAGE = 15;

/**
 * The keys of a list of files, as on a desktop.
 *
 * Arrows go, with Shift they choose a range, with Ctrl they go without choosing; Space chooses one, Ctrl+A all; Enter
 * opens, Backspace goes up, F2 renames, Delete deletes, Escape lets go.
 */
export function useFileKeys(options: Options): (event: KeyboardEvent<HTMLElement>) => void {
  const { entries, selection, scrollTo, focusRow } = options;
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
          // A button in the row has its own Enter.
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
