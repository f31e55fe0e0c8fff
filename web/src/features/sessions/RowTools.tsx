import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconNotebook, IconPlayerPlay, IconTerminal2, IconTrash } from "@tabler/icons-react";
import { hasEnded } from "@/api/session-states";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions";
import { RowTool } from "@/ui/table/RowTool";
import type { SessionActions } from "./use-actions";

/** The most frequent actions on a session as buttons. */
export function RowTools({ session, actions }: { session: Session; actions: SessionActions }) {
  const { t } = useLingui();
  const { id, name } = session;
  const jupyter = actions.jupyterIn(session);
  if (isRequested(id)) return null;
  const notMine = actions.ownerOnly(session);
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {session.state === "RUNNING" && (
        <RowTool
          label={t`Terminal`}
          row={name}
          icon={IconTerminal2}
          refusal={notMine}
          onClick={() => void actions.openTerminal(id)}
        />
      )}
      {jupyter && (
        <RowTool
          label={jupyter.title}
          row={name}
          icon={IconNotebook}
          refusal={notMine}
          onClick={() => void actions.openApp(session, jupyter)}
        />
      )}
      {hasEnded(session.state) ? (
        <RowTool
          label={t`Start again`}
          row={name}
          icon={IconPlayerPlay}
          onClick={() => void actions.startAgain(id)}
        />
      ) : (
        <RowTool
          label={t`Terminate`}
          row={name}
          icon={IconTrash}
          onClick={() => actions.terminate([session])}
        />
      )}
    </Group>
  );
}
