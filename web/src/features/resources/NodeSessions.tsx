import { useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import type { NodeDetail } from "@/api/types";
import { AllSessionsLink } from "@/features/sessions/SessionsTab";
import { SessionsTable } from "@/features/sessions/SessionsTable";
import { EmptyState } from "@/ui/EmptyState";

/** The sessions on a node that the user may see. */
export function NodeSessions({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  if (node.sessions.length === 0) {
    return (
      <EmptyState
        title={
          node.live_sessions === 0 ? t`No sessions on this node` : t`None of your sessions is on this node`
        }
      />
    );
  }
  return (
    <Stack gap="sm">
      <AllSessionsLink of={{ node: node.name }} />
      <SessionsTable sessions={node.sessions} />
    </Stack>
  );
}
