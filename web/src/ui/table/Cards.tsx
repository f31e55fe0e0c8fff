import { useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";
import { cellOf } from "./column";
import type { GridProps } from "./Grid";
import { keyOf, withHeadings } from "./headings";
import { sorted } from "./sorted";
import styles from "./table.module.css";
import { useNearEnd } from "./use-near-end";

interface Props<T> extends GridProps<T> {
  /** Content of a card; by default, all columns with their names. */
  card?: (row: T) => ReactNode;
}

const CARD_HEIGHT = 128;

/** A list in a narrow window: one card per row, of which those near the view are rendered. */
export function Cards<T>(props: Props<T>) {
  const { i18n } = useLingui();
  const { rows: given, columns, sorting, presorted, headingOf, rowId } = props;
  const rows = useMemo(
    () => (presorted ? given : sorted(given, columns, sorting, i18n.locale)),
    [given, columns, sorting, presorted, i18n.locale],
  );
  const { entries } = useMemo(
    () => withHeadings(rows, headingOf, i18n.locale, props.isOpen),
    [rows, headingOf, i18n.locale, props.isOpen],
  );
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_HEIGHT,
    indexAttribute: "data-entry",
    getItemKey: (index) => keyOf(entries[index], index, rowId),
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  useNearEnd(items.at(-1)?.index ?? 0, entries.length, props.onNearEnd);
  if (props.loading) {
    return (
      <Stack p="md" aria-busy className={styles.scroll}>
        {[1, 2, 3].map((key) => (
          <Skeleton key={key} height={72} />
        ))}
      </Stack>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={scroller} className={styles.scroll} aria-label={props.label} tabIndex={0}>
      <div style={{ height: items[0]?.start ?? 0 }} />
      {items.map(({ index, key }) => {
        const entry = entries[index];
        if (entry === undefined) return null;
        return (
          <div key={key} ref={virtual.measureElement} data-entry={index}>
            {"row" in entry ? (
              <article
                className={styles.card}
                aria-posinset={entry.index + 1}
                aria-setsize={rows.length}
                data-requested={props.look(entry.row).requested || undefined}
              >
                {props.card ? props.card(entry.row) : <DefaultCard {...props} row={entry.row} />}
              </article>
            ) : "below" in entry ? (
              <div className={styles.below}>{props.below?.(entry.below)}</div>
            ) : (
              <Text component="h2" className={styles.heading}>
                {entry.heading} <span className={styles.headingCount}>{entry.count}</span>
              </Text>
            )}
          </div>
        );
      })}
      <div style={{ height: virtual.getTotalSize() - (items.at(-1)?.end ?? 0) }} />
    </section>
  );
}

const orDash = (cell: ReactNode): ReactNode => (cell === null || cell === "" ? "–" : cell);

/** The column that cannot be hidden as the title, and the others below with their names. */
function DefaultCard<T>({ row, columns, visible, onOpen, tools, look }: GridProps<T> & { row: T }) {
  const { i18n } = useLingui();
  const head = columns.find(({ shown }) => shown === "always") ?? columns[0];
  if (!head) return null;
  const others = columns.filter(({ key }) => key !== head.key && (visible?.includes(key) ?? true));
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        {onOpen && !look(row).requested ? (
          <UnstyledButton className={styles.cardName} onClick={() => onOpen(row)}>
            {cellOf(head, row)}
          </UnstyledButton>
        ) : (
          <div className={styles.cardName}>{cellOf(head, row)}</div>
        )}
        {tools?.(row)}
      </Group>
      <dl className={styles.cardFacts}>
        {others.map((column) => (
          <div key={column.key}>
            <dt>{i18n._(column.title)}</dt>
            <dd>{orDash(cellOf(column, row))}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
