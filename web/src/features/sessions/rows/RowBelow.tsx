import { useLingui } from "@lingui/react/macro";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { rowName } from "@/features/sessions/arrays";
import { ContainersTable } from "@/features/sessions/detail/ContainersTable";
import type { SessionActions } from "@/features/sessions/use-actions";
import { sessionsShowQuery } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ArrayMembers } from "./ArrayMembers";
import { belowId } from "./open-rows";

interface Props {
  session: Session;
  filter: SessionFilter;
  actions: SessionActions;
}

/** What an open row shows below it: the sessions of an array, or the containers of a cluster. */
export function RowBelow({ session, filter, actions }: Props) {
  const { t } = useLingui();
  const label = session.array ? t`Sessions of ${rowName(session)}` : t`Containers of ${session.name}`;
  return (
    <section id={belowId(session.id)} aria-label={label}>
      {session.array ? (
        <ArrayMembers array={session.array} filter={filter} actions={actions} />
      ) : (
        <Containers id={session.id} />
      )}
    </section>
  );
}

function Containers({ id }: { id: string }) {
  const session = useQuery(sessionsShowQuery(id));
  if (session.isPending) return <Skeleton height={80} aria-busy />;
  if (session.isError) return <ProblemAlert problem={session.error} onRetry={() => void session.refetch()} />;
  return <ContainersTable session={session.data} />;
}
