import { useLocalStorage } from "@mantine/hooks";
import { COLUMN_KEYS, type ColumnKey, DEFAULT_COLUMNS } from "./column-keys";

/** The columns this person wants to see on this browser, and how to change them. */
export function useColumnChoice(): [ColumnKey[], (columns: ColumnKey[]) => void] {
  const [stored, store] = useLocalStorage<ColumnKey[]>({
    key: "carrel.columns",
    defaultValue: DEFAULT_COLUMNS,
    getInitialValueInEffect: false,
  });
  const known = Array.isArray(stored) ? COLUMN_KEYS.filter((key) => stored.includes(key)) : DEFAULT_COLUMNS;
  return [known.includes("name") ? known : DEFAULT_COLUMNS, store];
}
