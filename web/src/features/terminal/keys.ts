export type Command = "copy" | "paste" | "leave" | "palette" | "search" | "new" | "split" | "next" | "former";

const WITH_CTRL_SHIFT: Readonly<Record<string, Command>> = {
  KeyC: "copy",
  KeyV: "paste",
  KeyX: "leave",
  KeyF: "search",
  KeyE: "split",
  Enter: "new",
  ArrowRight: "next",
  ArrowLeft: "former",
};

/** What the page does instead of the shell; null: the shell gets the key. */
export function commandOf(event: KeyboardEvent): Command | null {
  if ((event.metaKey && event.key === "k") || (event.ctrlKey && event.altKey && event.key === "k"))
    return "palette";
  if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return null;
  return WITH_CTRL_SHIFT[event.code] ?? null;
}
