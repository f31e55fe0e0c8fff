import { useLingui } from "@lingui/react/macro";
import type { Session } from "@/api/types";
import type { KeyLine } from "@/ui/table/key-lines";
import type { RowActs } from "@/ui/table/use-row-keys";
import { rowHasEnded } from "./arrays";
import type { SessionActions } from "./use-actions";

/** Keyboard shortcuts of the session list, with their help texts. */
export function useSessionKeys(actions: SessionActions): {
  acts: (session: Session) => RowActs;
  actLines: KeyLine[];
} {
  const { t } = useLingui();
  const acts = (session: Session): RowActs => {
    const jupyter = actions.jupyterIn(session);
    const mine = actions.ownerOnly(session) === null && !session.array;
    return {
      t: session.state === "RUNNING" && mine ? () => void actions.openTerminal(session.id) : undefined,
      o: jupyter && mine ? () => void actions.openApp(session, jupyter) : undefined,
      Delete: rowHasEnded(session) ? undefined : () => actions.terminate([session]),
    };
  };
  const actLines: KeyLine[] = [
    [["T"], t`Open terminal`],
    [["O"], t`Open JupyterLab`],
    [["Del"], t`Terminate session`],
  ];
  return { acts, actLines };
}
