import { useLingui } from "@lingui/react/macro";
import { Checkbox } from "@mantine/core";
import type { Row } from "@tanstack/react-table";
import { memo } from "react";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions-create";
import type { features } from "./columns";
import { RowTools } from "./RowTools";
import { SessionCells } from "./SessionCells";
import styles from "./SessionTable.module.css";
import { hasEnded } from "./states";
import type { SessionActions } from "./use-actions";
import type { RowKeys } from "./use-row-keys";

interface Props {
  row: Row<typeof features, Session>;
  index: number;
  /** It is the one row in the tab order. */
  current: boolean;
  selected: boolean;
  /** It is shown in the drawer. */
  opened: boolean;
  /** The columns shown, in a word: another choice or language draws the row anew. */
  columns: unknown;
  keys: RowKeys;
  actions: SessionActions;
  onOpen: (id: string) => void;
  measure: (element: HTMLTableRowElement | null) => void;
}

function SessionRowPlain({ row, index, current, selected, opened, keys, actions, onOpen, measure }: Props) {
  const { t } = useLingui();
  const session = row.original;
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={selected}
      data-opened={opened || undefined}
      data-ended={hasEnded(session.state) || undefined}
      data-requested={isRequested(session.id) || undefined}
      className={styles.row}
      tabIndex={current ? 0 : -1}
      onFocus={() => keys.onFocus(index)}
      onKeyDown={keys.onKeyDown}
      onClick={() => !isRequested(session.id) && onOpen(session.id)}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a click here only must not open the row */}
      <td className={styles.check} onClick={(event) => event.stopPropagation()}>
        <Checkbox
          size="xs"
          tabIndex={-1}
          aria-label={t`Select ${session.name}`}
          checked={selected}
          disabled={!row.getCanSelect()}
          onChange={row.getToggleSelectedHandler()}
        />
      </td>
      <SessionCells row={row} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a click here only must not open the row */}
      <td className={styles.tools} onClick={(event) => event.stopPropagation()}>
        <RowTools session={session} actions={actions} />
      </td>
    </tr>
  );
}

/**
 * One session of the list, drawn again only when something about it changed.
 *
 * The table makes new row objects for all sessions whenever one of them changes, so the session itself is compared.
 */
export const SessionRow = memo(
  SessionRowPlain,
  (before, after) =>
    before.row.original === after.row.original &&
    before.index === after.index &&
    before.current === after.current &&
    before.selected === after.selected &&
    before.opened === after.opened &&
    before.columns === after.columns &&
    before.actions === after.actions,
);
