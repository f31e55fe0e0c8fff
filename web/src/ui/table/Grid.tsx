import { useLingui } from "@lingui/react/macro";
import { Checkbox, VisuallyHidden } from "@mantine/core";
import { type ColumnVisibilityState, type RowSelectionState, useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Dispatch, type SetStateAction, useEffect, useMemo, useRef } from "react";
import type { Session } from "@/api/types";
import type { SortKey } from "@/app/search";
import { isRequested } from "@/queries/sessions-create";
import { COLUMN_KEYS, type ColumnKey } from "./column-keys";
import { features, sessionColumns } from "./columns";
import { SessionRow } from "./SessionRow";
import styles from "./SessionTable.module.css";
import { SkeletonRows } from "./SkeletonRows";
import { SortHeader } from "./SortHeader";
import { hasEnded } from "./states";
import type { SessionActions } from "./use-actions";
import { useRowKeys } from "./use-row-keys";

interface Props {
  label: string;
  sessions: Session[];
  loading: boolean;
  visible: ColumnKey[];
  /** The session shown in the drawer. */
  opened: string | undefined;
  sort: SortKey | undefined;
  order: "asc" | "desc" | undefined;
  onSort: (sort: SortKey | undefined, order: "asc" | "desc" | undefined) => void;
  selected: RowSelectionState;
  onSelected: Dispatch<SetStateAction<RowSelectionState>>;
  actions: SessionActions;
  onOpen: (id: string) => void;
  onNearEnd: () => void;
}

const ROW_HEIGHT = 41;

/** The list as a table; only the rows near the window are in the document. */
export function SessionTable(props: Props) {
  const { t, i18n } = useLingui();
  const { sessions, visible, sort, order, actions, onOpen, onNearEnd } = props;
  const columns = useMemo(() => sessionColumns(i18n), [i18n, i18n.locale]);
  const sorting = useMemo(() => (sort ? [{ id: sort, desc: order === "desc" }] : []), [sort, order]);
  const columnVisibility = useMemo<ColumnVisibilityState>(
    () => Object.fromEntries(COLUMN_KEYS.map((key) => [key, visible.includes(key)])),
    [visible],
  );
  // Rows compare this to know whether their cells are still the right ones.
  const cellKey = useMemo(() => ({ columns, columnVisibility }), [columns, columnVisibility]);
  const table = useTable({
    features,
    columns,
    data: sessions,
    getRowId: (session) => session.id,
    enableRowSelection: (row) => !hasEnded(row.original.state) && !isRequested(row.id),
    state: { sorting, rowSelection: props.selected, columnVisibility },
    onRowSelectionChange: props.onSelected,
  });
  const rows = table.getRowModel().rows;

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 16,
    scrollPaddingStart: 36,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 8) onNearEnd();
  }, [last, rows.length, onNearEnd]);

  const ordered = useMemo(() => rows.map((row) => row.original), [rows]);
  const { current, keys } = useRowKeys({
    sessions: ordered,
    scrollTo: (index) => virtual.scrollToIndex(index),
    container: scroller,
    actions,
    onOpen,
    onToggle: (index) => rows[index]?.toggleSelected(),
  });
  const width = visible.length + 2;

  return (
    <div ref={scroller} className={styles.scroll}>
      <table
        className={styles.table}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        aria-busy={props.loading}
      >
        <thead>
          <tr>
            <th className={styles.check}>
              <Checkbox
                size="xs"
                aria-label={t`Select all`}
                checked={rows.length > 0 && table.getIsAllRowsSelected()}
                indeterminate={table.getIsSomeRowsSelected()}
                onChange={table.getToggleAllRowsSelectedHandler()}
              />
            </th>
            {table.getHeaderGroups()[0]?.headers.map((header) => (
              <SortHeader
                key={header.id}
                id={header.id}
                title={<table.FlexRender header={header} />}
                sortable={header.column.getCanSort()}
                direction={sort === header.id ? (order ?? "asc") : null}
                onSort={props.onSort}
              />
            ))}
            <th className={styles.tools}>
              <VisuallyHidden>{t`Actions`}</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.loading && <SkeletonRows columns={width} />}
          <Spacer height={items[0]?.start ?? 0} columns={width} />
          {items.map(({ index, key }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <SessionRow
                key={key}
                row={row}
                index={index}
                current={index === current}
                selected={row.getIsSelected()}
                opened={props.opened === row.id}
                columns={cellKey}
                keys={keys}
                actions={actions}
                onOpen={onOpen}
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

/** Stands for the rows that are not in the document. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}
