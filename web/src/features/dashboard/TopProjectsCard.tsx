import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { heldListQuery } from "@/queries/held";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { Card } from "./Card";
import styles from "./Dashboard.module.css";

/** The projects with the most sessions, with their allocations. */
export function TopProjectsCard() {
  const { t } = useLingui();
  const list = useQuery(heldListQuery("project", 5));
  return (
    <Card title={t`Top projects`} about={t`By live sessions that hold resources.`}>
      {list.isPending && <Skeleton height={80} aria-busy />}
      {list.isError && <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.length === 0 && (
        <Text size="sm">
          <Trans>No project holds resources.</Trans>
        </Text>
      )}
      {list.data?.map(({ id, label, slots, sessions }) => (
        <div key={id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Link to="/projects" search={{ open: id }} className={styles.link}>
              {label}
            </Link>
            <Text size="sm">
              <Plural value={sessions} one="# session" other="# sessions" />
            </Text>
          </Group>
          <Text size="xs" c="dimmed">
            {slotsWords(slots).join(SLOTS_JOINT)}
          </Text>
        </div>
      ))}
    </Card>
  );
}
