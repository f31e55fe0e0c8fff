import { useLingui } from "@lingui/react/macro";
import { Checkbox, VisuallyHidden } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import type { FileEntry } from "@/api/types";
import { SkeletonRows } from "@/ui/table/SkeletonRows";
import { SortHeader, type Sorting } from "@/ui/table/SortHeader";
import table from "@/ui/table/table.module.css";
import { FileRow } from "./FileRow";
import type { DropActs } from "./use-drop";
import type { FileActs } from "./use-file-acts";
import { useFileKeys } from "./use-file-keys";
import type { FileSelection } from "./use-file-selection";

interface Props {
  label: string;
  entries: FileEntry[];
  loading: boolean;
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Search results: show the directory of each. */
  isSearch: boolean;
  /** Show only name and size. */
  compact: boolean;
  selection: FileSelection;
  acts: FileActs;
  drop: DropActs;
  sorting: Sorting;
  /** Absent if the order is fixed. */
  onSort?: (sorting: Sorting) => void;
  /** Path of the entry being renamed. */
  renaming: string | null;
  onRenaming: (path: string | null) => void;
  onOpen: (entry: FileEntry) => void;
  onEdit: (entry: FileEntry) => void;
  onUp: () => void;
  onNearEnd?: () => void;
}

const ROW_HEIGHT = 37;

/** Files and directories as a virtualized table. */
export function FileTable(props: Props) {
  const { t } = useLingui();
  const { entries, selection, acts, compact, onNearEnd, onSort, sorting } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => entries[index]?.path ?? index,
    overscan: 16,
    scrollPaddingStart: 34,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (entries.length > 0 && last >= entries.length - 50) onNearEnd?.();
  }, [last, entries.length, onNearEnd]);

  const onKeyDown = useFileKeys({
    entries,
    selection,
    scrollTo: (index) => virtual.scrollToIndex(index),
    // The row may be rendered only after the scroll.
    focusRow: (index) =>
      requestAnimationFrame(() =>
        scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus(),
      ),
    onOpen: props.onOpen,
    onUp: props.onUp,
    onRename: (entry) => acts.whyNotWrite === null && entry.readable && props.onRenaming(entry.path),
    onRemove: () => {
      const named = selection.entries.filter(({ readable }) => readable);
      if (named.length > 0 && acts.whyNotRemove === null) acts.remove(named, selection.clear);
    },
  });
  const columns = compact ? 4 : 5;
  const chosen = selection.entries.length;
  const header = (id: string, title: string, width?: string) => (
    <SortHeader
      id={id}
      title={title}
      width={width}
      sortable={onSort !== undefined}
      direction={(sorting.sort ?? "name") === id ? (sorting.order ?? "asc") : null}
      onSort={(next) => onSort?.(next)}
    />
  );
  return (
    <div ref={scroller} className={table.scroll} style={{ borderTop: 0 }}>
      <table
        className={table.table}
        style={{ minWidth: compact ? 0 : "34rem" }}
        aria-label={props.label}
        aria-rowcount={entries.length + 1}
        aria-busy={props.loading}
      >
        <thead>
          <tr>
            <th className={table.check}>
              <Checkbox
                size="xs"
                aria-label={t`Select all`}
                checked={chosen > 0 && chosen === entries.length}
                indeterminate={chosen > 0 && chosen < entries.length}
                onChange={() => (chosen === entries.length ? selection.clear() : selection.all())}
              />
            </th>
            {header("name", t`Name`)}
            {header("size", t`Size`, compact ? "5.5rem" : "7rem")}
            {!compact && header("modified", t`Modified`, "12rem")}
            <th className={table.tools} style={{ width: "3rem" }}>
              <VisuallyHidden>{t`Actions`}</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.loading && <SkeletonRows columns={columns} />}
          <Spacer height={items[0]?.start ?? 0} columns={columns} />
          {items.map(({ index }) => {
            const entry = entries[index];
            if (!entry) return null;
            return (
              <FileRow
                key={entry.path + entry.name}
                entry={entry}
                index={index}
                isSearch={props.isSearch}
                compact={compact}
                selected={selection.has(entry.path)}
                current={selection.focused === entry.path || (selection.focused === null && index === 0)}
                renaming={props.renaming === entry.path}
                selection={selection}
                acts={acts}
                drop={props.drop}
                onKeyDown={onKeyDown}
                onOpen={props.onOpen}
                onEdit={props.onEdit}
                onRenaming={props.onRenaming}
                measure={virtual.measureElement}
              />
            );
          })}
          <Spacer height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} columns={columns} />
        </tbody>
      </table>
      {!props.loading && entries.length === 0 && props.empty}
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
