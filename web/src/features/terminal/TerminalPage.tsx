import { useLingui } from "@lingui/react/macro";
import { Box, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { sessionsShowQuery } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { Terminals } from "./Terminals";
import { TerminalWaiting } from "./TerminalWaiting";

const route = getRouteApi("/shell/terminal/$id");

/** A terminal in a session, full page. */
export function TerminalPage() {
  const { t } = useLingui();
  const { id } = route.useParams();
  const { container } = route.useSearch();
  const session = useQuery(sessionsShowQuery(id));
  const name = session.data?.name;
  const where = container ? `${name} ${container}` : name;
  usePageTitle(name && t`${where} · terminal`);

  if (session.isPending) return <Skeleton m="md" height={200} />;
  if (session.isLoadingError) {
    return (
      <Box p="md" maw={560} mx="auto">
        <ProblemAlert problem={session.error} onRetry={() => void session.refetch()} />
      </Box>
    );
  }
  // A terminal that was open stays visible after its session ended or is no longer shared: its output may matter.
  return session.data.started_at ? (
    <Terminals
      key={`${session.data.id} ${container}`}
      session={session.data}
      container={session.data.containers.find((one) => one.name === container && one.index > 0)?.name}
    />
  ) : (
    <TerminalWaiting session={session.data} />
  );
}
