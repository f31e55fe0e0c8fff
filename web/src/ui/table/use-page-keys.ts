import { useHotkeys } from "@mantine/hooks";

interface Keys {
  onNew?: () => void;
  onSearch?: () => void;
  onHelp?: () => void;
}

/** The keys that work anywhere on the page, except while typing in a field. */
export function usePageKeys({ onNew, onSearch, onHelp }: Keys): void {
  const quiet = (act: (() => void) | undefined) => (event: KeyboardEvent) => {
    // A dialog or drawer in front keeps its keys to itself.
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
