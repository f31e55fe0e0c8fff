import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Tooltip } from "@mantine/core";
import { IconNotebook, IconPlayerPlay, IconTerminal2, IconTrash } from "@tabler/icons-react";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions-create";
import { hasEnded } from "./states";
import type { SessionActions } from "./use-actions";

const PICTURE = { size: 17, stroke: 1.7, "aria-hidden": true } as const;

/** What is done most with a session, one press away. */
export function RowTools({ session, actions }: { session: Session; actions: SessionActions }) {
  const { t } = useLingui();
  const { id, name } = session;
  const jupyter = actions.jupyterIn(session);
  if (isRequested(id)) return null;
  const tool = (label: string, icon: React.ReactNode, onClick: () => void) => (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={`${label}: ${name}`} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {session.state === "RUNNING" &&
        tool(t`Terminal`, <IconTerminal2 {...PICTURE} />, () => void actions.openTerminal(id))}
      {jupyter &&
        tool(jupyter.title, <IconNotebook {...PICTURE} />, () => void actions.openApp(session, jupyter))}
      {hasEnded(session.state)
        ? tool(t`Start again`, <IconPlayerPlay {...PICTURE} />, () => void actions.startAgain(id))
        : tool(t`Terminate`, <IconTrash {...PICTURE} />, () => actions.terminate([session]))}
    </Group>
  );
}
