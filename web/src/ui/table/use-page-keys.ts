import { useHotkeys } from "@mantine/hooks";

interface Keys {
  onNew?: () => void;
  onSearch?: () => void;
  onHelp?: () => void;
}

/** Page-wide keyboard shortcuts, disabled while typing in a field. */
export function usePageKeys({ onNew, onSearch, onHelp }: Keys): void {
  const quiet = (act: (() => void) | undefined) => (event: KeyboardEvent) => {
    // An open dialog or drawer handles its own keys.
    if (!act || document.querySelector("[aria-modal='true']")) return;
    event.preventDefault();
    act();
  };
  useHotkeys([
    ["n", quiet(onNew)],
    ["/", quiet(onSearch)],
    ["shift+?", quiet(onHelp)],
    ["?", quiet(onHelp)],
  ]);
}
