import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconNotebook, IconPlayerPlay, IconTerminal2, IconTrash } from "@tabler/icons-react";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions";
import { RowTool } from "@/ui/table/RowTool";
import { rowHasEnded, rowName } from "./arrays";
import type { SessionActions } from "./use-actions";

/** The most frequent actions on a session as buttons. */
export function RowTools({ session, actions }: { session: Session; actions: SessionActions }) {
  const { t } = useLingui();
  const { id } = session;
  const name = rowName(session);
  const jupyter = session.array ? undefined : actions.jupyterIn(session);
  if (isRequested(id)) return null;
  const notUsable = actions.whyNotUse(session);
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {session.state === "RUNNING" && !session.array && (
        <RowTool
          label={t`Terminal`}
          row={name}
          icon={IconTerminal2}
          refusal={notUsable}
          onClick={() => void actions.openTerminal(id)}
        />
      )}
      {jupyter && (
        <RowTool
          label={jupyter.title}
          row={name}
          icon={IconNotebook}
          refusal={notUsable}
          onClick={() => void actions.openApp(session, jupyter)}
        />
      )}
      {rowHasEnded(session) ? (
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
          refusal={actions.whyNotChange(session)}
          onClick={() => actions.terminate([session])}
        />
      )}
    </Group>
  );
}
