import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack } from "@mantine/core";
import { IconNotebook, IconTerminal2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { hasEnded } from "@/api/session-states";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import type { SessionActions } from "@/features/sessions/use-actions";
import { sessionsShowQuery } from "@/queries/sessions";

const LASTS_MS = 20_000;

interface Props {
  id: string;
  actions: SessionActions;
  onDone: () => void;
}

/** The state of a session that has just been requested, and what to open in it. Goes soon after it runs. */
export function StartedNotice({ id, actions, onDone }: Props) {
  const session = useQuery(sessionsShowQuery(id)).data;
  const state = session?.state ?? "PENDING";
  const done = useRef(onDone);
  useEffect(() => {
    if (state !== "RUNNING" && !hasEnded(state)) return;
    const timer = setTimeout(() => done.current(), LASTS_MS);
    return () => clearTimeout(timer);
  }, [state]);
  if (!session) return null;
  const jupyter = actions.jupyterIn(session);
  const open = (act: () => unknown) => () => {
    void act();
    onDone();
  };
  return (
    <Stack gap={6}>
      <div>
        <SessionBadge state={session.state} result={session.result} />
      </div>
      <Group gap="xs">
        {jupyter && (
          <Button
            size="compact-sm"
            leftSection={<IconNotebook size={15} aria-hidden />}
            onClick={open(() => actions.openApp(session, jupyter))}
          >
            <Trans>Open {jupyter.title}</Trans>
          </Button>
        )}
        {state === "RUNNING" && (
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconTerminal2 size={15} aria-hidden />}
            onClick={open(() => actions.openTerminal(id))}
          >
            <Trans>Terminal</Trans>
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={open(() => actions.showDetail(id))}>
          <Trans>Details</Trans>
        </Button>
      </Group>
    </Stack>
  );
}
