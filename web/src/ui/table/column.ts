import type { MessageDescriptor } from "@lingui/core";
import type { ReactNode } from "react";

/** One column of a list: what it is called, what it says about a row, and how it is drawn. */
export interface Column<T, K extends string = string> {
  key: K;
  title: MessageDescriptor;
  /** What the row is sorted by, and what is shown when there is no `cell`. */
  value: (row: T) => string | number | null;
  cell?: (row: T) => ReactNode;
  sortable?: boolean;
  /** A CSS width. The columns without one share what is left. */
  width?: string;
  /** "always": cannot be hidden, and heads a card on a phone. "chosen": hidden until a person asks for it. */
  shown?: "always" | "chosen";
}

/** What a cell of this column shows for the row. */
export function cellOf<T>(column: Column<T>, row: T): ReactNode {
  return column.cell ? column.cell(row) : column.value(row);
}

/** The columns that are shown until a person chooses others. */
export function usualColumns(columns: readonly Column<never>[]): string[] {
  return columns.filter((column) => column.shown !== "chosen").map((column) => column.key);
}
