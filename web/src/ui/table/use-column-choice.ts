import { useLocalStorage } from "@mantine/hooks";
import { useMemo } from "react";
import { COLUMN_KEYS, type ColumnKey, DEFAULT_COLUMNS } from "./column-keys";

/** The columns this person wants to see on this browser, and how to change them. */
export function useColumnChoice(): [ColumnKey[], (columns: ColumnKey[]) => void] {
  const [stored, store] = useLocalStorage<ColumnKey[]>({
    key: "carrel.columns",
    defaultValue: DEFAULT_COLUMNS,
    getInitialValueInEffect: false,
  });
  const columns = useMemo(() => {
    const known = Array.isArray(stored) ? COLUMN_KEYS.filter((key) => stored.includes(key)) : [];
    return known.includes("name") ? known : DEFAULT_COLUMNS;
  }, [stored]);
  return [columns, store];
}
