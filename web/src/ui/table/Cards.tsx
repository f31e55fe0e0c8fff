import { useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { cellOf } from "./column";
import type { GridProps } from "./Grid";
import { withHeadings } from "./headings";
import { sorted } from "./sorted";
import styles from "./table.module.css";

interface Props<T> extends GridProps<T> {
  /** Content of a card; by default, all columns with their names. */
  card?: (row: T) => ReactNode;
}

/** A list in a narrow window: one card per row. */
export function Cards<T>(props: Props<T>) {
  const { i18n } = useLingui();
  if (props.loading) {
    return (
      <Stack p="md" aria-busy className={styles.scroll}>
        {[1, 2, 3].map((key) => (
          <Skeleton key={key} height={72} />
        ))}
      </Stack>
    );
  }
  const rows = props.presorted ? props.rows : sorted(props.rows, props.columns, props.sorting, i18n.locale);
  const { entries } = withHeadings(rows, props.headingOf, i18n.locale);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroll} aria-label={props.label} tabIndex={0}>
      {entries.map((entry) =>
        "row" in entry ? (
          <article
            key={props.rowId(entry.row)}
            className={styles.card}
            data-requested={props.look(entry.row).requested || undefined}
          >
            {props.card ? props.card(entry.row) : <DefaultCard {...props} row={entry.row} />}
          </article>
        ) : (
          <Text key={`heading:${entry.heading}`} component="h2" className={styles.heading}>
            {entry.heading} <span className={styles.headingCount}>{entry.count}</span>
          </Text>
        ),
      )}
    </section>
  );
}

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
            <dd>{cellOf(column, row)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
