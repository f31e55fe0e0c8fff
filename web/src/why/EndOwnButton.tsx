import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { sessionsShowQuery } from "@/queries/sessions-show";
import { useSessionActions } from "@/sessions/use-actions";

/** Ends a session of one's own to make room, once the person has confirmed it. */
export function EndOwnButton({ id }: { id: string }) {
  const session = useQuery(sessionsShowQuery(id)).data;
  const actions = useSessionActions();
  return (
    <Button
      size="compact-xs"
      variant="default"
      disabled={!session}
      onClick={() => session && actions.terminate([session])}
    >
      <Trans>End {session?.name ?? "…"}…</Trans>
    </Button>
  );
}
