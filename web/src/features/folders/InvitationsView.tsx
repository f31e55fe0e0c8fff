import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Invitation } from "@/api/types";
import { invitationsQuery, useAcceptInvitation, useDeclineInvitation } from "@/queries/invitations";
import { useProblemText } from "@/sentences/use-problem-text";
import { EmptyState } from "@/ui/EmptyState";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { PageTitle } from "@/ui/PageTitle";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "@/ui/table/list.module.css";
import { PermissionText } from "./badges";

/** The folder invitations of the user, to accept or decline. */
export function InvitationsView() {
  const { t } = useLingui();
  const query = useQuery(invitationsQuery);
  return (
    <>
      <div className={styles.bar}>
        <PageTitle className={styles.title}>
          <Trans>Invitations</Trans>
        </PageTitle>
      </div>
      <Stack px="md" pb="md" gap="sm" maw={720} style={{ overflow: "auto" }}>
        {query.isPending && <Skeleton height={96} aria-busy />}
        {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
        {query.data?.length === 0 && (
          <EmptyState title={t`No invitations`} text={t`Invitations to shared folders appear here.`} />
        )}
        {query.data?.map((one) => (
          <InvitationCard key={one.id} invitation={one} />
        ))}
      </Stack>
    </>
  );
}

function InvitationCard({ invitation }: { invitation: Invitation }) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const navigate = useNavigate();
  const accept = useAcceptInvitation();
  const decline = useDeclineInvitation();
  const { folder_name: name, folder_id: folder } = invitation;
  const from = invitation.project?.name ?? invitation.owner?.email ?? "–";
  const failed = (thrown: unknown) =>
    notifications.show({
      color: "red",
      title: t`Could not answer the invitation to ${name}`,
      message: problemText(thrown).detail,
    });
  return (
    <article className={panel.panel} aria-label={name}>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2}>
          <Text fw={600}>{name}</Text>
          <Text size="sm">
            {invitation.invited_by && invitation.invited_by.email !== from ? (
              <Trans>
                Owned by {from}, shared by {invitation.invited_by.email}
              </Trans>
            ) : (
              <Trans>Shared by {from}</Trans>
            )}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            <PermissionText permission={invitation.permission} /> · {formatSize(invitation.used_bytes)} ·{" "}
            <Instant at={invitation.created_at} />
          </Text>
        </Stack>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            loading={decline.isPending}
            aria-label={t`Decline: ${name}`}
            onClick={() => decline.mutate(invitation.id, { onError: failed })}
          >
            <Trans>Decline</Trans>
          </Button>
          <Button
            size="xs"
            loading={accept.isPending}
            aria-label={t`Accept: ${name}`}
            onClick={() =>
              accept.mutate(invitation.id, {
                onError: failed,
                onSuccess: () => void navigate({ to: "/data/$folder", params: { folder } }),
              })
            }
          >
            <Trans>Accept</Trans>
          </Button>
        </Group>
      </Group>
    </article>
  );
}
