import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useSessionActions } from "@/features/sessions/use-actions";
import { sessionsShowQuery } from "@/queries/sessions";

/** Ends the user's own sessions to free capacity, after confirmation. */
export function EndOwnButton({ ids }: { ids: string[] }) {
  const sessions = useQueries({
    queries: ids.map((id) => sessionsShowQuery(id)),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const actions = useSessionActions();
  const known = sessions.length === ids.length;
  return (
    <Button size="compact-xs" variant="default" disabled={!known} onClick={() => actions.terminate(sessions)}>
      <Trans>Terminate {known ? sessions.map(({ name }) => name).join(", ") : "…"}…</Trans>
    </Button>
  );
}
