import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { sessionsGraphQuery } from "@/queries/sessions";
import { CommandLine } from "@/ui/CommandLine";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DependencyGraph } from "./DependencyGraph";

/** The sessions that a session starts after and those that start after it, as a graph; live. */
export function DependenciesTab({ id }: { id: string }) {
  const { t } = useLingui();
  const graph = useQuery(sessionsGraphQuery(id));
  if (graph.isPending) return <Skeleton height={160} aria-busy />;
  if (graph.isError) return <ProblemAlert problem={graph.error} onRetry={() => void graph.refetch()} />;
  if (graph.data.nodes.length < 2) {
    return (
      <EmptyState
        title={t`No dependencies`}
        text={t`It starts after no other session, and none starts after it. Choose sessions to start after under More options when you start one.`}
      />
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        <Trans>
          From left to right, each session starts after those that its lines come from. Solid lines are met
          conditions, dashed ones are open, and red ones can no longer be met.
        </Trans>
      </Text>
      <DependencyGraph graph={graph.data} own={graph.data.nodes[0]?.id ?? id} />
      {graph.data.truncated && (
        <Text size="sm" c="dimmed">
          <Trans>There are more sessions than shown.</Trans>
        </Text>
      )}
      <CommandLine text={`carrel session graph ${id}`} />
    </Stack>
  );
}
