import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Skeleton, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ScheduleRun } from "@/api/types";
import { schedulesRunsQuery } from "@/queries/schedules";
import { useSessionText } from "@/sentences/use-session-text";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useRows } from "@/ui/table/use-rows";
import { RunState } from "./RunState";

/** The runs of a schedule, newest first, with their sessions and results. */
export function RunsTable({ schedule }: { schedule: string }) {
  const { t } = useLingui();
  const list = useInfiniteQuery(schedulesRunsQuery(schedule));
  const { rows, more } = useRows(list);
  if (list.isPending) return <Skeleton height={80} aria-busy />;
  if (list.error) return <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />;
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        <Trans>No runs yet.</Trans>
      </Text>
    );
  return (
    <>
      <Table.ScrollContainer minWidth={420}>
        <Table aria-label={t`Runs`} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Planned`}</Table.Th>
              <Table.Th>{t`Result`}</Table.Th>
              <Table.Th>{t`Session`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((run) => (
              <RunRow key={run.planned_at} run={run} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {list.hasNextPage && (
        <Button size="compact-sm" variant="default" loading={list.isFetchingNextPage} onClick={more}>
          <Trans>Show earlier runs</Trans>
        </Button>
      )}
    </>
  );
}

function RunRow({ run }: { run: ScheduleRun }) {
  const { reason } = useSessionText();
  return (
    <Table.Tr>
      <Table.Td>
        <Instant at={run.planned_at} />
        {run.on_request && (
          <Text size="xs" c="dimmed">
            <Trans>on request</Trans>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <RunState run={run} />
      </Table.Td>
      <Table.Td>
        {run.session ? (
          <SessionLink id={run.session}>{run.session_name}</SessionLink>
        ) : (
          run.reason && reason(run.reason)
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function SessionLink({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => <Link {...props} to="/sessions" search={{ session: id, state: "all" }} />}
    >
      {children}
    </Anchor>
  );
}
