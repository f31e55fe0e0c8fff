import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Paper, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { UserDetail } from "@/api/types";
import { keypairsOfQuery } from "@/queries/keypairs";
import { EmptyState } from "@/ui/EmptyState";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { KeypairTools } from "./KeypairTools";

/** The keypairs of a user. */
export function UserKeypairs({ user }: { user: UserDetail }) {
  const { t } = useLingui();
  const keypairs = useQuery(keypairsOfQuery(user.id));
  if (keypairs.isPending) return <Skeleton height={120} aria-busy />;
  if (keypairs.isError) {
    return <ProblemAlert problem={keypairs.error} onRetry={() => void keypairs.refetch()} />;
  }
  if (keypairs.data.length === 0) return <EmptyState title={t`No keypairs`} />;
  return (
    <Stack gap="xs">
      {keypairs.data.map((keypair) => (
        <Paper key={keypair.access_key} withBorder p="xs">
          <Group justify="space-between" wrap="nowrap">
            <div style={{ minWidth: 0 }}>
              <Group gap="xs">
                <Text size="sm" ff="monospace" style={{ overflowWrap: "anywhere" }}>
                  {keypair.access_key}
                </Text>
                {!keypair.active && (
                  <StateBadge look="off">
                    <Trans>inactive</Trans>
                  </StateBadge>
                )}
              </Group>
              <Text size="xs" c="dimmed">
                {keypair.name && <>{keypair.name} · </>}
                {keypair.last_used_at ? (
                  <Trans>
                    last used <Instant at={keypair.last_used_at} />
                  </Trans>
                ) : (
                  <Trans>never used</Trans>
                )}
              </Text>
            </div>
            <KeypairTools keypair={keypair} domain={user.domain.id} />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}
