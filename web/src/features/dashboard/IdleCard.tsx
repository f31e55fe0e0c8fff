import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usageIdleQuery } from "@/queries/usage";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { Card } from "./Card";
import styles from "./Dashboard.module.css";

const IDLE_PERCENT = 5;
const SHOWN = 5;

/** Running sessions that hardly use what they hold. */
export function IdleCard() {
  const { t } = useLingui();
  const list = useQuery(usageIdleQuery(IDLE_PERCENT, SHOWN));
  const idle = list.data?.items ?? [];
  const more = (list.data?.total ?? 0) - idle.length;
  return (
    <Card title={t`Idle sessions`} about={t`Below ${IDLE_PERCENT}% of their CPU in the last 5 minutes.`}>
      {list.isPending && <Skeleton height={80} aria-busy />}
      {list.isError && <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />}
      {list.data && idle.length === 0 && (
        <Text size="sm">
          <Trans>No idle sessions.</Trans>
        </Text>
      )}
      {idle.map((session) => (
        <div key={session.id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Link to="/sessions" search={{ owner: "all", session: session.id }} className={styles.link}>
              {session.name}
            </Link>
            <Text size="sm">{Math.round(session.cpu_percent)}%</Text>
          </Group>
          <Text size="xs" c="dimmed">
            {[session.owner.email, ...slotsWords(session.slots)].join(SLOTS_JOINT)}
          </Text>
        </div>
      ))}
      {more > 0 && (
        <Text size="xs" c="dimmed">
          <Trans>and {more} more</Trans>
        </Text>
      )}
    </Card>
  );
}
