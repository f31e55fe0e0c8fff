import { useLingui } from "@lingui/react/macro";
import { Checkbox, VisuallyHidden } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";
import type { Column } from "./column";
import { keyOf, withHeadings } from "./headings";
import { type KeyLine, useKeyLines } from "./key-lines";
import { Row, type RowLook } from "./Row";
import { SkeletonRows } from "./SkeletonRows";
import { SortHeader, type Sorting } from "./SortHeader";
import { sorted } from "./sorted";
import styles from "./table.module.css";
import { useNearEnd } from "./use-near-end";
import { type RowActs, useRowKeys } from "./use-row-keys";
import type { Selection } from "./use-selection";

export interface GridProps<T> {
  /** Accessible name of the table. */
  label: string;
  rows: T[];
  rowId: (row: T) => string;
  columns: readonly Column<T>[];
  /** Keys of the visible columns; all by default. */
  visible?: string[];
  loading: boolean;
  sorting?: Sorting;
  onSort?: (sorting: Sorting) => void;
  /** The server has sorted the rows; the grid does not. */
  presorted?: boolean;
  look: (row: T) => RowLook;
  selection?: Selection<T>;
  /** Id of the row in the open drawer. */
  opened?: string;
  onOpen?: (row: T) => void;
  /** Further shortcuts of the focused row; arrows, Enter and X are reserved. */
  acts?: (row: T) => RowActs;
  /** What the help says about `acts`. */
  actLines?: KeyLine[];
  /** The heading under which a row stands; none by default. Keep the function stable. */
  headingOf?: (row: T) => string;
  /** Whether a row is open. Keep the function stable while its output is the same. */
  isOpen?: (row: T) => boolean;
  /** What is shown below an open row. */
  below?: (row: T) => ReactNode;
  /** The row buttons. Keep the function stable while its output is the same. */
  tools?: (row: T) => ReactNode;
  toolsWidth?: string;
  /** Called when the user scrolls near the end of the loaded rows. */
  onNearEnd?: () => void;
  minWidth?: string;
}

const ROW_HEIGHT = 34;
const NO_ACTS = () => ({});

/** A list as a virtualized table. */
export function Grid<T>(props: GridProps<T>) {
  const { t, i18n } = useLingui();
  const { columns, visible, rows: given, sorting, selection, onNearEnd, onOpen } = props;
  const shown = useMemo(
    () => (visible ? columns.filter(({ key }) => visible.includes(key)) : columns),
    [columns, visible],
  );
  const rows = useMemo(
    () => (props.presorted ? given : sorted(given, columns, sorting, i18n.locale)),
    [given, columns, sorting, props.presorted, i18n.locale],
  );

  const { entries, ordered, entryOf } = useMemo(
    () => withHeadings(rows, props.headingOf, i18n.locale, props.isOpen),
    [rows, props.headingOf, i18n.locale, props.isOpen],
  );

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    indexAttribute: "data-entry",
    getItemKey: (index) => keyOf(entries[index], index, props.rowId),
    overscan: 16,
    scrollPaddingStart: 36,
  });
  const items = virtual.getVirtualItems();
  useNearEnd(items.at(-1)?.index ?? 0, entries.length, onNearEnd);

  const { current, keys } = useRowKeys({
    rows: ordered,
    scrollTo: (index) => virtual.scrollToIndex(entryOf(index)),
    container: scroller,
    acts: props.acts ?? NO_ACTS,
    opened: useMemo(
      () => (props.opened === undefined ? -1 : ordered.findIndex((row) => props.rowId(row) === props.opened)),
      [ordered, props.opened, props.rowId],
    ),
    onOpen: onOpen && ((row) => !props.look(row).requested && onOpen(row)),
    onToggle: selection && ((index) => ordered[index] !== undefined && selection.toggle(ordered[index])),
  });
  const lines: KeyLine[] = [[["↑", "↓"], t`Move between rows (J and K too)`]];
  if (onOpen) lines.push([["Enter"], t`Show details`]);
  if (selection) lines.push([["X"], t`Select`]);
  useKeyLines([...lines, ...(props.actLines ?? [])]);
  const width = shown.length + (selection ? 1 : 0) + (props.tools ? 1 : 0);

  return (
    <div ref={scroller} className={styles.scroll}>
      <table
        className={styles.table}
        style={{ minWidth: props.minWidth }}
        aria-label={props.label}
        aria-rowcount={entries.length + 1}
        aria-busy={props.loading}
      >
        <thead>
          <tr>
            {selection && (
              <th className={styles.check}>
                <Checkbox
                  size="xs"
                  aria-label={t`Select all`}
                  checked={selection.all(rows)}
                  indeterminate={selection.some(rows)}
                  onChange={() => selection.toggleAll(rows)}
                />
              </th>
            )}
            {shown.map((column) => (
              <SortHeader
                key={column.key}
                id={column.key}
                title={i18n._(column.title)}
                width={column.width}
                sortable={column.sortable === true && props.onSort !== undefined}
                direction={sorting?.sort === column.key ? (sorting.order ?? "asc") : null}
                onSort={(next) => props.onSort?.(next)}
              />
            ))}
            {props.tools && (
              <th className={styles.tools} style={{ width: props.toolsWidth }}>
                <VisuallyHidden>{t`Actions`}</VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {props.loading && <SkeletonRows columns={width} />}
          <Spacer height={items[0]?.start ?? 0} columns={width} />
          {items.map(({ index, key }) => {
            const entry = entries[index];
            if (entry === undefined) return null;
            if ("below" in entry) {
              return (
                <tr key={key} ref={virtual.measureElement} data-entry={index} aria-rowindex={index + 2}>
                  <td colSpan={width} className={styles.below}>
                    {props.below?.(entry.below)}
                  </td>
                </tr>
              );
            }
            if ("heading" in entry) {
              return (
                <tr key={key} ref={virtual.measureElement} data-entry={index} aria-rowindex={index + 2}>
                  <th scope="rowgroup" colSpan={width} className={styles.heading}>
                    {entry.heading} <span className={styles.headingCount}>{entry.count}</span>
                  </th>
                </tr>
              );
            }
            const { row } = entry;
            return (
              <Row
                key={key}
                row={row}
                index={entry.index}
                entry={index}
                columns={shown}
                current={entry.index === current}
                opened={props.opened === props.rowId(row)}
                look={props.look(row)}
                selected={selection?.has(row)}
                selectable={selection?.selectable(row) ?? false}
                onToggle={() => selection?.toggle(row)}
                keys={keys}
                onOpen={onOpen}
                tools={props.tools}
                measure={virtual.measureElement}
              />
            );
          })}
          <Spacer height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} columns={width} />
        </tbody>
      </table>
    </div>
  );
}

/** Placeholder for the rows that are not rendered. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}
