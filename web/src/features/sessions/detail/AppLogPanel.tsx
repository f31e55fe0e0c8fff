import { Trans } from "@lingui/react/macro";
import { Code, Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SessionApp, SessionDetail } from "@/api/types";
import { appLogQuery } from "@/queries/apps";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** The end of what an app has printed since its last start. */
export function AppLogPanel({ session, app }: { session: SessionDetail; app: SessionApp }) {
  const log = useQuery(appLogQuery(session.id, app.name));
  if (log.isPending) return <Skeleton height={60} mb="xs" />;
  if (log.isError) return <ProblemAlert problem={log.error} onRetry={() => void log.refetch()} />;
  if (log.data === "") {
    return (
      <Text size="sm" c="dimmed" mb="xs">
        <Trans>It has printed nothing.</Trans>
      </Text>
    );
  }
  return (
    <Code block mb="xs" mah={240} style={{ overflow: "auto" }} tabIndex={0}>
      {log.data}
    </Code>
  );
}
