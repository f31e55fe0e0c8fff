import { type KeyboardEvent, type RefObject, useMemo, useRef, useState } from "react";
import type { Session } from "@/api/types";
import { hasEnded } from "./states";
import type { SessionActions } from "./use-actions";

interface Options {
  sessions: Session[];
  container: RefObject<HTMLElement | null>;
  scrollTo: (index: number) => void;
  actions: SessionActions;
  onOpen: (id: string) => void;
  onToggle: (index: number) => void;
}

export interface RowKeys {
  onFocus: (index: number) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

/**
 * Lets a person walk through the rows with the arrow keys and act on the one in focus.
 *
 * Returns the row that is in the tab order, and handlers that stay the same for as long as the table is shown.
 */
export function useRowKeys(options: Options): { current: number; keys: RowKeys } {
  const [current, setCurrent] = useState(0);
  // Where the person is, also while the focus is still on its way there.
  const here = useRef(0);
  const latest = useRef(options);
  latest.current = options;

  const keys = useMemo<RowKeys>(() => {
    const focus = (index: number) => {
      const { sessions, scrollTo, container } = latest.current;
      const next = Math.max(0, Math.min(sessions.length - 1, index));
      here.current = next;
      setCurrent(next);
      scrollTo(next);
      // The row may enter the document only after the scroll; by then another key may have gone further.
      requestAnimationFrame(() => {
        if (here.current !== next) return;
        container.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus();
      });
    };
    const onFocus: RowKeys["onFocus"] = (index) => {
      here.current = index;
      setCurrent(index);
    };
    const onKeyDown: RowKeys["onKeyDown"] = (event) => {
      if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
      const session = latest.current.sessions[here.current];
      const act = session && actionOf(event.key, session, here.current, latest.current, focus);
      if (!act) return;
      event.preventDefault();
      act();
    };
    return { onFocus, onKeyDown };
  }, []);

  return { current: Math.min(current, Math.max(0, options.sessions.length - 1)), keys };
}

/** What a key does to the row it is pressed on; nothing when it cannot be done now. */
function actionOf(
  key: string,
  session: Session,
  index: number,
  { sessions, actions, onOpen, onToggle }: Options,
  focus: (index: number) => void,
): (() => void) | undefined {
  const running = session.state === "RUNNING";
  const jupyter = actions.jupyterIn(session);
  const acts: [keys: string[], act: (() => void) | undefined][] = [
    [["ArrowDown", "j"], () => focus(index + 1)],
    [["ArrowUp", "k"], () => focus(index - 1)],
    [["Home"], () => focus(0)],
    [["End"], () => focus(sessions.length - 1)],
    [["Enter"], () => onOpen(session.id)],
    [["x", " "], () => onToggle(index)],
    [["t"], running ? () => void actions.openTerminal(session.id) : undefined],
    [["o"], jupyter ? () => void actions.openApp(session, jupyter) : undefined],
    [["Delete"], hasEnded(session.state) ? undefined : () => actions.terminate([session])],
  ];
  return acts.find(([keys]) => keys.includes(key))?.[1];
}
