import { useLingui } from "@lingui/react/macro";
import { useHotkeys } from "@mantine/hooks";
import { overlayIsOpen } from "@/ui/keys";
import { type KeyLine, useKeyLines } from "./key-lines";

interface Keys {
  /** The button that creates an item. */
  make?: { label: string; refusal?: string | null; onClick: () => void };
  onSearch?: () => void;
}

/** Page-wide keyboard shortcuts, disabled while typing in a field; the help lists them. */
export function usePageKeys({ make, onSearch }: Keys): void {
  const { t } = useLingui();
  const onNew = make && !make.refusal ? make.onClick : undefined;
  const quiet = (act: (() => void) | undefined) => (event: KeyboardEvent) => {
    if (!act || overlayIsOpen()) return;
    event.preventDefault();
    act();
  };
  useHotkeys([
    ["n", quiet(onNew)],
    ["/", quiet(onSearch)],
  ]);
  const lines: KeyLine[] = [];
  if (onSearch) lines.push([["/"], t`Search the list`]);
  if (make && onNew) lines.push([["N"], make.label]);
  useKeyLines(lines);
}
