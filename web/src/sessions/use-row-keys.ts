import { type KeyboardEvent, type RefObject, useState } from "react";
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

/** Lets a person walk through the rows with the arrow keys and act on the one in focus; one row is in the tab order. */
export function useRowKeys({ sessions, container, scrollTo, actions, onOpen, onToggle }: Options) {
  const [current, setCurrent] = useState(0);
  const here = Math.min(current, Math.max(0, sessions.length - 1));

  const focus = (index: number) => {
    const next = Math.max(0, Math.min(sessions.length - 1, index));
    setCurrent(next);
    scrollTo(next);
    // The row may enter the document only after the scroll.
    requestAnimationFrame(() =>
      container.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus(),
    );
  };

  const onKeyDown = (index: number) => (event: KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const session = sessions[index];
    if (!session) return;
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
    const act = acts.find(([keys]) => keys.includes(event.key))?.[1];
    if (!act) return;
    event.preventDefault();
    act();
  };

  return {
    rowProps: (index: number) => ({
      tabIndex: index === here ? 0 : -1,
      onFocus: () => setCurrent(index),
      onKeyDown: onKeyDown(index),
    }),
  };
}
