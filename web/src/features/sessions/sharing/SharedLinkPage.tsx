import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Navigate, useLocation } from "@tanstack/react-router";
import { linkToken } from "@/features/signin/link-token";
import { sessionLinkQuery } from "@/queries/session-shares";
import { PageTitle } from "@/ui/PageTitle";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";

/** Opens a link to a session, and then shows the session. */
export function SharedLinkPage() {
  const { t } = useLingui();
  usePageTitle(t`Shared session`);
  const token = linkToken(useLocation({ select: (here) => here.hash }));
  const opened = useQuery({ ...sessionLinkQuery(token ?? ""), enabled: token !== null });
  if (opened.data) {
    const { id, level } = opened.data;
    const owner = level ? "shared" : undefined;
    return <Navigate to="/sessions" search={{ owner, state: "all", session: id }} replace />;
  }
  return (
    <Stack maw={560} mx="auto" mt="xl" px="md">
      <PageTitle>
        <Trans>Shared session</Trans>
      </PageTitle>
      {token === null && (
        <Alert color="red" variant="light" role="alert" title={t`This link does not work`}>
          <Trans>The link is incomplete. Copy all of it.</Trans>
        </Alert>
      )}
      {opened.isError && <ProblemAlert problem={opened.error} onRetry={() => void opened.refetch()} />}
      {opened.isFetching && (
        <>
          <Loader aria-label={t`Loading`} />
          <Text size="sm">
            <Trans>Opening the session that is shared with you.</Trans>
          </Text>
        </>
      )}
    </Stack>
  );
}
