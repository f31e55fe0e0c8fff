import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Session } from "@/api/types";
import { Age } from "@/features/sessions/Age";
import { RowTools } from "@/features/sessions/RowTools";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import type { SessionActions } from "@/features/sessions/use-actions";
import { isRequested } from "@/queries/sessions";
import { EmptyState } from "@/ui/EmptyState";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./StartPage.module.css";

interface Props {
  label: string;
  sessions: Session[];
  loading: boolean;
  problem: unknown;
  onRetry: () => void;
  actions: SessionActions;
}

export function RecentCard({ label, sessions, loading, problem, onRetry, actions }: Props) {
  const { t } = useLingui();
  return (
    <section className={panel.panel} aria-label={label}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {label}
        </Title>
        {sessions.length > 0 && (
          <Text component={Link} to="/sessions" size="sm" c="var(--carrel-accent)">
            <Trans>All sessions</Trans>
          </Text>
        )}
      </Group>
      {loading && (
        <Stack gap="xs" aria-busy>
          <Skeleton height={32} />
          <Skeleton height={32} />
          <Skeleton height={32} />
        </Stack>
      )}
      {problem != null && <ProblemAlert problem={problem} onRetry={onRetry} />}
      {!loading && problem == null && sessions.length === 0 && (
        <EmptyState
          title={t`You have no sessions yet`}
          text={t`Start a session above. It then appears here.`}
        />
      )}
      {sessions
        .filter((session) => !isRequested(session.id))
        .map((session) => (
          <div key={session.id} className={styles.row}>
            <Link to="/sessions" search={{ state: "all", session: session.id }} className={styles.rowName}>
              <b>{session.name}</b>
              <Text size="xs" c="dimmed" truncate>
                {session.image_name ?? session.image} · <Age since={session.created_at} />
              </Text>
            </Link>
            <SessionBadge state={session.state} result={session.result} />
            <RowTools session={session} actions={actions} />
          </div>
        ))}
    </section>
  );
}
