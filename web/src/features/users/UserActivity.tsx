import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { UserDetail } from "@/api/types";
import { EntryText } from "@/features/audit/EntryText";
import { auditListQuery } from "@/queries/audit";
import { EmptyState } from "@/ui/EmptyState";
import { Instant } from "@/ui/Instant";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** The recent activity of a user. */
export function UserActivity({ user }: { user: UserDetail }) {
  const { t } = useLingui();
  const activity = useInfiniteQuery(auditListQuery({ actor: user.id }));
  const entries = (activity.data?.pages ?? []).flatMap((page) => page.items);
  if (activity.isPending) return <Skeleton height={160} aria-busy />;
  if (activity.isError) {
    return <ProblemAlert problem={activity.error} onRetry={() => void activity.refetch()} />;
  }
  if (entries.length === 0) return <EmptyState title={t`No entries yet`} />;
  return (
    <Stack gap="xs">
      <Anchor
        size="sm"
        renderRoot={(props) => <Link {...props} to="/audit" search={{ actor: user.email }} />}
      >
        <Trans>Show in the audit trail</Trans>
      </Anchor>
      {entries.map((entry) => (
        <div key={entry.id}>
          <EntryText entry={entry} />
          <Text size="xs" c="dimmed">
            <Instant at={entry.at} />
            {entry.address && <> · {entry.address}</>}
          </Text>
        </div>
      ))}
      <MoreButton list={activity} />
    </Stack>
  );
}
