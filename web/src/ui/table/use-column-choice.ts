import { useLocalStorage } from "@mantine/hooks";
import { useMemo } from "react";
import { type Column, usualColumns } from "./column";

/** The columns this person wants to see on this browser, and how to change them. `list` names the list they are of. */
export function useColumnChoice(
  list: string,
  columns: readonly Column<never>[],
): [string[], (keys: string[]) => void] {
  const [stored, store] = useLocalStorage<string[] | null>({
    key: `carrel.columns.${list}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const keys = useMemo(() => {
    if (!Array.isArray(stored)) return usualColumns(columns);
    return columns
      .filter(({ key, shown }) => shown === "always" || stored.includes(key))
      .map(({ key }) => key);
  }, [stored, columns]);
  return [keys, store];
}
