import { Trans } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { PageTitle } from "@/ui/PageTitle";
import styles from "./list.module.css";

interface Props {
  title: string;
  children?: ReactNode;
  /** The number of selected rows, their actions, and clearing the selection. */
  selected?: { count: number; actions: ReactNode; onClear: () => void };
  /** Column menu, export and similar; hidden on a phone and while rows are selected. */
  tools?: ReactNode;
  /** The button that creates an item. */
  action?: ReactNode;
}

/** The header of a list: title, filters, tools and main button. */
export function ListToolbar({ title, children, selected, tools, action }: Props) {
  return (
    <div className={styles.bar}>
      <PageTitle className={styles.title}>{title}</PageTitle>
      {children}
      <div className={styles.grow} />
      {selected && selected.count > 0 ? (
        <Group gap="xs">
          <Text size="sm">
            <Trans>{selected.count} selected</Trans>
          </Text>
          {selected.actions}
          <Button size="xs" variant="subtle" color="gray" onClick={selected.onClear}>
            <Trans>Unselect</Trans>
          </Button>
        </Group>
      ) : (
        tools && (
          <Group gap={4} visibleFrom="sm">
            {tools}
          </Group>
        )
      )}
      {action}
    </div>
  );
}
