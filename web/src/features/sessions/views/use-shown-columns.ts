import { useMemo } from "react";
import type { Column } from "@/ui/table/column";
import { useColumnChoice } from "@/ui/table/use-column-choice";

/** The shown columns, and a setter: those in the address, as of a saved view, or else the user's in this browser. */
export function useShownColumns(
  list: string,
  columns: readonly Column<never>[],
  address: string | undefined,
  onAddress: (keys: string) => void,
): [string[], (keys: string[]) => void] {
  const [stored, store] = useColumnChoice(list, columns);
  const given = useMemo(() => {
    if (address === undefined) return null;
    const keys = address.split(",");
    return columns.filter(({ key, shown }) => shown === "always" || keys.includes(key)).map(({ key }) => key);
  }, [address, columns]);
  return given ? [given, (keys) => onAddress(keys.join(","))] : [stored, store];
}
