import { useLingui } from "@lingui/react/macro";
import type { Session } from "@/api/types";
import type { KeyLine } from "@/ui/table/key-lines";
import type { RowActs } from "@/ui/table/use-row-keys";
import { rowHasEnded } from "./arrays";
import { type OpenRows, opens } from "./rows/open-rows";
import type { SessionActions } from "./use-actions";

/** Keyboard shortcuts of the session list, with their help texts. */
export function useSessionKeys(
  actions: SessionActions,
  open: OpenRows,
): {
  acts: (session: Session) => RowActs;
  actLines: KeyLine[];
} {
  const { t } = useLingui();
  const acts = (session: Session): RowActs => {
    const jupyter = actions.jupyterIn(session);
    const usable = actions.whyNotUse(session) === null && !session.array;
    const removable = !rowHasEnded(session) && actions.whyNotChange(session) === null;
    return {
      t: session.state === "RUNNING" && usable ? () => void actions.openTerminal(session.id) : undefined,
      o: jupyter && usable ? () => void actions.openApp(session, jupyter) : undefined,
      ArrowRight: opens(session) && !open.has(session.id) ? () => open.toggle(session.id) : undefined,
      ArrowLeft: open.has(session.id) ? () => open.toggle(session.id) : undefined,
      Delete: removable ? () => actions.terminate([session]) : undefined,
    };
  };
  const actLines: KeyLine[] = [
    [["T"], t`Open terminal`],
    [["O"], t`Open JupyterLab`],
    [["Del"], t`Terminate session`],
    [["→", "←"], t`Open or close an array or a cluster in the list`],
  ];
  return { acts, actLines };
}
