import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import type { ReactNode } from "react";
import styles from "./table.module.css";

export interface Sorting {
  sort?: string;
  order?: "asc" | "desc";
}

interface Props {
  id: string;
  title: ReactNode;
  width: string | undefined;
  sortable: boolean;
  direction: "asc" | "desc" | null;
  onSort: (sorting: Sorting) => void;
}

/** A column title; clicks cycle through ascending, descending and unsorted. */
export function SortHeader({ id, title, width, sortable, direction, onSort }: Props) {
  if (!sortable) {
    return (
      <th scope="col" data-column={id} style={{ width }}>
        {title}
      </th>
    );
  }
  const press = () => {
    if (direction === null) onSort({ sort: id, order: "asc" });
    else if (direction === "asc") onSort({ sort: id, order: "desc" });
    else onSort({ sort: undefined, order: undefined });
  };
  return (
    <th
      scope="col"
      data-column={id}
      style={{ width }}
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
