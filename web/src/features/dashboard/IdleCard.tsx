import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useReadingsOf } from "@/cache/usage";
import { sessionsListQuery } from "@/queries/sessions";
import { usageRecentQuery } from "@/queries/usage";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { Card } from "./Card";
import styles from "./Dashboard.module.css";
import { IDLE_PERCENT, idleAmong } from "./idle";

const SHOWN = 5;

/** Running sessions that hardly use what they hold. */
export function IdleCard() {
  const { t } = useLingui();
  const list = useInfiniteQuery(sessionsListQuery({ state: "live", q: "", owner: "all" }));
  const running = (list.data?.pages ?? [])
    .flatMap((page) => page.items)
    .filter(({ state }) => state === "RUNNING");
  const ids = running.map(({ id }) => id);
  useQuery(usageRecentQuery(ids));
  const idle = idleAmong(running, useReadingsOf(ids));
  return (
    <Card
      title={t`Idle sessions`}
      about={
        list.hasNextPage
          ? t`Below ${IDLE_PERCENT} % of their CPU in the last 5 minutes, among the ${running.length} newest.`
          : t`Below ${IDLE_PERCENT} % of their CPU in the last 5 minutes.`
      }
    >
      {list.isPending && <Skeleton height={80} aria-busy />}
      {list.isError && <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />}
      {list.data && idle.length === 0 && (
        <Text size="sm">
          <Trans>No idle sessions.</Trans>
        </Text>
      )}
      {idle.slice(0, SHOWN).map(({ session, percent }) => (
        <div key={session.id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Link to="/sessions" search={{ owner: "all", session: session.id }} className={styles.link}>
              {session.name}
            </Link>
            <Text size="sm">{percent} %</Text>
          </Group>
          <Text size="xs" c="dimmed">
            {[session.owner.email, ...slotsWords(session.slots)].join(SLOTS_JOINT)}
          </Text>
        </div>
      ))}
      {idle.length > SHOWN && (
        <Text size="xs" c="dimmed">
          <Trans>and {idle.length - SHOWN} more</Trans>
        </Text>
      )}
    </Card>
  );
}
