import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Skeleton, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SessionFilter } from "@/cache/patch";
import { sessionsListQuery } from "@/queries/sessions";
import { EmptyState } from "@/ui/EmptyState";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SessionsTable } from "./SessionsTable";

interface Props {
  /** Which sessions: of an object, by the filters of the sessions page. */
  of: Partial<Pick<SessionFilter, "domain" | "project" | "group" | "owner">>;
}

/** The live sessions of an object, for its detail drawer. */
export function SessionsTab({ of }: Props) {
  const { t } = useLingui();
  const list = useInfiniteQuery(sessionsListQuery({ state: "live", q: "", owner: "all", ...of }));
  const sessions = (list.data?.pages ?? []).flatMap((page) => page.items);
  if (list.isPending) return <Skeleton height={160} aria-busy />;
  if (list.isError) return <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="sm">
      <AllSessionsLink of={of} />
      {sessions.length > 0 ? (
        <SessionsTable sessions={sessions} owner={of.owner === undefined} />
      ) : (
        <EmptyState title={t`No live sessions`} />
      )}
      <MoreButton list={list} />
    </Stack>
  );
}

/** Opens the sessions page, filtered. */
export function AllSessionsLink({ of }: { of: Partial<SessionFilter> }) {
  return (
    <Anchor
      size="sm"
      w="fit-content"
      renderRoot={(props) => <Link {...props} to="/sessions" search={{ owner: "all", ...of }} />}
    >
      <Trans>All sessions</Trans>
    </Anchor>
  );
}
