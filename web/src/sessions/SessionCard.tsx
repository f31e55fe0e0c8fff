import { Group, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions-create";
import { Age } from "./Age";
import { NameCell } from "./NameCell";
import { RowTools } from "./RowTools";
import styles from "./SessionTable.module.css";
import { SlotsText } from "./SlotsText";
import { StateBadge } from "./StateBadge";
import { UsageSparkline } from "./UsageSparkline";
import type { SessionActions } from "./use-actions";
import { WhyCell } from "./WhyCell";

interface Props {
  sessions: Session[];
  loading: boolean;
  actions: SessionActions;
  onOpen: (id: string) => void;
}

/** The list for a narrow window: one card for each session. */
export function SessionCards({ sessions, loading, actions, onOpen }: Props) {
  if (loading) {
    return (
      <Stack p="md" aria-busy className={styles.scroll}>
        {[1, 2, 3].map((key) => (
          <Skeleton key={key} height={72} />
        ))}
      </Stack>
    );
  }
  return (
    <div className={styles.scroll}>
      {sessions.map((session) => (
        <article
          key={session.id}
          className={styles.card}
          data-requested={isRequested(session.id) || undefined}
        >
          <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
            <UnstyledButton
              style={{ minWidth: 0, flex: 1 }}
              disabled={isRequested(session.id)}
              onClick={() => onOpen(session.id)}
            >
              <NameCell session={session} />
            </UnstyledButton>
            <StateBadge state={session.state} />
            {session.state !== "RUNNING" && <RowTools session={session} actions={actions} />}
          </Group>
          <Text size="xs" c="dimmed" mt={4} truncate>
            {session.image_name ?? session.image} · <SlotsText slots={session.slots} /> ·{" "}
            <Age since={session.created_at} />
          </Text>
          {session.state !== "RUNNING" && <WhyCell session={session} />}
          {session.state === "RUNNING" && (
            <Group justify="space-between" mt={4} wrap="nowrap" gap="xs">
              <Group gap="sm" wrap="nowrap">
                <UsageSparkline session={session} slot="cpu" />
                <UsageSparkline session={session} slot="mem" />
              </Group>
              <RowTools session={session} actions={actions} />
            </Group>
          )}
        </article>
      ))}
    </div>
  );
}
