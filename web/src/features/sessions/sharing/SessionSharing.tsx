import { Trans } from "@lingui/react/macro";
import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SessionDetail } from "@/api/types";
import { sessionSharesQuery } from "@/queries/session-shares";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SessionShareForm } from "./SessionShareForm";
import { SessionShareRows } from "./SessionShareRows";

/** Who has access to a session and until when; share, revoke. For its owner and administrators. */
export function SessionSharing({ session }: { session: SessionDetail }) {
  const shares = useQuery(sessionSharesQuery(session.id));
  return (
    <Stack gap="lg">
      {session.array_id && (
        <Text size="sm">
          <Trans>Shares are for all sessions of the array.</Trans>
        </Text>
      )}
      <SessionShareForm session={session} />
      {shares.isPending && <Skeleton height={120} aria-busy />}
      {shares.isError && <ProblemAlert problem={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.data && <SessionShareRows session={session} shares={shares.data} />}
    </Stack>
  );
}
