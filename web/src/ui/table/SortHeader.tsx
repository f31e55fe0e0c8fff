import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { SortKey } from "@/app/search";
import styles from "./SessionTable.module.css";

interface Props {
  id: string;
  title: ReactNode;
  sortable: boolean;
  direction: "asc" | "desc" | null;
  onSort: (sort: SortKey | undefined, order: "asc" | "desc" | undefined) => void;
}

/** A column's title; a press sorts up, then down, then not at all. */
export function SortHeader({ id, title, sortable, direction, onSort }: Props) {
  if (!sortable) {
    return (
      <th scope="col" data-column={id}>
        {title}
      </th>
    );
  }
  const key = id as SortKey;
  const press = () => {
    if (direction === null) onSort(key, "asc");
    else if (direction === "asc") onSort(key, "desc");
    else onSort(undefined, undefined);
  };
  return (
    <th
      scope="col"
      data-column={id}
      aria-sort={direction === null ? "none" : direction === "asc" ? "ascending" : "descending"}
    >
      <button type="button" className={styles.sort} onClick={press}>
        {title}
        {direction === "asc" && <IconArrowUp size={13} aria-hidden />}
        {direction === "desc" && <IconArrowDown size={13} aria-hidden />}
      </button>
    </th>
  );
}
