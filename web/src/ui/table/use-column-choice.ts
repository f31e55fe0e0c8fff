import { useLocalStorage } from "@mantine/hooks";
import { useMemo } from "react";
import { type Column, usualColumns } from "./column";

/** The user's selected columns in this browser, and a setter. `list` is the storage key. */
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
