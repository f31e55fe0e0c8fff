import { useLingui } from "@lingui/react/macro";
import { Checkbox, UnstyledButton } from "@mantine/core";
import type { KeyboardEvent, MouseEvent } from "react";
import type { FileEntry } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import table from "@/ui/table/table.module.css";
import { beginDrag } from "./dragging";
import styles from "./Explorer.module.css";
import { FileIcon } from "./FileIcon";
import { FileMenu } from "./FileMenu";
import { parentOf, shownName } from "./paths";
import { RenameCell } from "./RenameCell";
import { type DropActs, useDrop } from "./use-drop";
import type { FileActs } from "./use-file-acts";
import type { FileSelection } from "./use-file-selection";

interface Props {
  entry: FileEntry;
  index: number;
  isSearch: boolean;
  compact: boolean;
  selected: boolean;
  /** Whether this row is in the tab order. */
  current: boolean;
  renaming: boolean;
  selection: FileSelection;
  acts: FileActs;
  drop: DropActs;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  onOpen: (entry: FileEntry) => void;
  onEdit: (entry: FileEntry) => void;
  onRenaming: (path: string | null) => void;
  measure: (element: HTMLTableRowElement | null) => void;
}

/** Row of a file or directory. */
export function FileRow(props: Props) {
  const { t } = useLingui();
  const { entry, selection, acts, drop, renaming, onRenaming } = props;
  const { path, name } = entry;
  // Only directories accept drops; a drop on a file goes to the current directory.
  const takes = entry.kind === "directory" && entry.readable;
  const { over, handlers } = useDrop(path, drop, takes ? acts.whyNotWrite : "");
  const shown = shownName(name);
  const press = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest("button, input, a")) return;
    selection.choose(path, event.shiftKey ? "range" : event.ctrlKey || event.metaKey ? "toggle" : "only");
  };
  return (
    <tr
      ref={props.measure}
      data-index={props.index}
      aria-rowindex={props.index + 2}
      aria-selected={props.selected}
      className={`${table.row} ${styles.row}`}
      data-over={over || undefined}
      tabIndex={props.current ? 0 : -1}
      draggable={!renaming && entry.readable}
      onDragStart={(event) => {
        const dragged = props.selected ? selection.entries.filter(({ readable }) => readable) : [entry];
        const paths = dragged.map((one) => one.path);
        beginDrag(event.dataTransfer, { folder: acts.folder.id, paths });
      }}
      onKeyDown={props.onKeyDown}
      onClick={press}
      onDoubleClick={() => !renaming && props.onOpen(entry)}
      {...(takes ? handlers : {})}
    >
      <td className={table.check}>
        <Checkbox
          size="xs"
          tabIndex={-1}
          aria-label={t`Select ${name}`}
          checked={props.selected}
          onChange={() => selection.choose(path, "toggle")}
        />
      </td>
      <td>
        <div className={styles.name}>
          <FileIcon folder={acts.folder.id} entry={entry} />
          {renaming ? (
            <RenameCell entry={entry} acts={acts} onDone={() => onRenaming(null)} />
          ) : (
            <div style={{ minWidth: 0 }}>
              <UnstyledButton tabIndex={-1} title={shown} onClick={() => props.onOpen(entry)}>
                {shown}
              </UnstyledButton>
              {props.isSearch && <small>{shownName(parentOf(path)) || "/"}</small>}
            </div>
          )}
        </div>
      </td>
      <td>{entry.size_bytes === null ? "" : formatSize(entry.size_bytes)}</td>
      {!props.compact && (
        <td>
          <Instant at={entry.modified_at} />
        </td>
      )}
      <td className={table.tools}>
        <FileMenu
          entry={entry}
          acts={acts}
          onOpen={props.onOpen}
          onEdit={props.onEdit}
          onRename={() => onRenaming(path)}
        />
      </td>
    </tr>
  );
}
