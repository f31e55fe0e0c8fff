import { useLingui } from "@lingui/react/macro";
import { Checkbox } from "@mantine/core";
import { memo, type ReactNode } from "react";
import { type Column, cellOf } from "./column";
import styles from "./table.module.css";
import type { RowKeys } from "./use-row-keys";

/** The name of a row, and whether it is ended or still pending at the server. */
export interface RowLook {
  name: string;
  ended?: boolean;
  requested?: boolean;
}

interface Props<T> {
  row: T;
  index: number;
  /** Its index among rows and headings. */
  entry: number;
  columns: readonly Column<T>[];
  /** Whether this row is in the tab order. */
  current: boolean;
  /** Whether the drawer shows this row. */
  opened: boolean;
  look: RowLook;
  /** Absent if rows are not selectable. */
  selected: boolean | undefined;
  selectable: boolean;
  onToggle: () => void;
  keys: RowKeys;
  onOpen: ((row: T) => void) | undefined;
  tools: ((row: T) => ReactNode) | undefined;
  measure: (element: HTMLTableRowElement | null) => void;
}

function RowPlain<T>(props: Props<T>) {
  const { t } = useLingui();
  const { row, index, columns, look, selected, onOpen, keys, tools } = props;
  const openable = onOpen && !look.requested;
  return (
    <tr
      ref={props.measure}
      data-index={index}
      data-entry={props.entry}
      aria-rowindex={props.entry + 2}
      aria-selected={selected}
      data-openable={onOpen !== undefined || undefined}
      data-opened={props.opened || undefined}
      data-ended={look.ended || undefined}
      data-requested={look.requested || undefined}
      className={styles.row}
      tabIndex={props.current ? 0 : -1}
      onFocus={() => keys.onFocus(index)}
      onKeyDown={keys.onKeyDown}
      onClick={openable ? () => onOpen(row) : undefined}
    >
      {selected !== undefined && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: clicks here must not open the row
        <td className={styles.check} onClick={(event) => event.stopPropagation()}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={t`Select ${look.name}`}
            checked={selected}
            disabled={!props.selectable}
            onChange={props.onToggle}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-column={column.key}>
          {cellOf(column, row)}
        </td>
      ))}
      {tools && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: clicks here must not open the row
        <td className={styles.tools} onClick={(event) => event.stopPropagation()}>
          {tools(row)}
        </td>
      )}
    </tr>
  );
}

/**
 * One row of a list, memoized.
 *
 * A live list is rebuilt on every change; unchanged rows keep their identity.
 */
export const Row = memo(
  RowPlain,
  (before, after) =>
    before.row === after.row &&
    before.index === after.index &&
    before.entry === after.entry &&
    before.current === after.current &&
    before.selected === after.selected &&
    before.opened === after.opened &&
    before.columns === after.columns &&
    before.tools === after.tools,
) as typeof RowPlain;
