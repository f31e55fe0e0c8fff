import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Age } from "@/features/sessions/Age";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { isRequested, sessionsListQuery } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { Card } from "./Card";
import { countStates } from "./count-states";
import styles from "./Dashboard.module.css";

const RECENT = 5;

/** The user's live sessions by state, and their last sessions. */
export function MineCard() {
  const { t } = useLingui();
  const list = useInfiniteQuery(sessionsListQuery({ state: "live", q: "", owner: "me" }));
  const sessions = (list.data?.pages ?? []).flatMap((page) => page.items);
  const counts = countStates(sessions);
  const recent = (
    useInfiniteQuery(sessionsListQuery({ state: "all", q: "", owner: "me" })).data?.pages[0]?.items ?? []
  )
    .filter(({ id }) => !isRequested(id))
    .slice(0, RECENT);
  return (
    <Card
      title={t`My sessions`}
      about={list.hasNextPage ? t`Among the ${sessions.length} newest sessions.` : undefined}
    >
      {list.isPending && <Skeleton height={40} aria-busy />}
      {list.isError && <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />}
      {list.data && counts.length === 0 && (
        <Text size="sm">
          <Trans>No live sessions.</Trans>
        </Text>
      )}
      {counts.map(([state, count]) => (
        <Group key={state} justify="space-between">
          <SessionBadge state={state} />
          <Text size="sm" fw={600}>
            {count}
          </Text>
        </Group>
      ))}
      {recent.map(({ id, name, state, created_at }) => (
        <Group key={id} justify="space-between" gap="xs" wrap="nowrap">
          <Link to="/sessions" search={{ state: "all", session: id }} className={styles.link}>
            {name}
          </Link>
          <Text size="xs" c="dimmed">
            {!counts.some(([live]) => live === state) && <SessionBadge state={state} />}{" "}
            <Age since={created_at} />
          </Text>
        </Group>
      ))}
      <Group gap="md">
        <Link to="/sessions" className={styles.link}>
          <Trans>All my sessions</Trans>
        </Link>
        <Link to="/sessions" search={{ launch: "new" }} className={styles.link}>
          <Trans>Start a session</Trans>
        </Link>
      </Group>
    </Card>
  );
}
