import type { MessageDescriptor } from "@lingui/core";
import type { ReactNode } from "react";

/** One column of a list: title, value and rendering. */
export interface Column<T, K extends string = string> {
  key: K;
  title: MessageDescriptor;
  /** The sort value, which is also shown if there is no `cell`. */
  value: (row: T) => string | number | null;
  cell?: (row: T) => ReactNode;
  sortable?: boolean;
  /** A CSS width. The columns without one share the rest. */
  width?: string;
  /** "always": cannot be hidden, and is the title of a card. "chosen": hidden by default. */
  shown?: "always" | "chosen";
}

/** Content of a cell. */
export function cellOf<T>(column: Column<T>, row: T): ReactNode {
  return column.cell ? column.cell(row) : column.value(row);
}

/** The default columns. */
export function usualColumns(columns: readonly Column<never>[]): string[] {
  return columns.filter((column) => column.shown !== "chosen").map((column) => column.key);
}
