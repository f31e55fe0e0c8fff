import { useLingui } from "@lingui/react/macro";
import { useComputedColorScheme } from "@mantine/core";
import { useImperativeHandle, useRef } from "react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { formatSize } from "@/ui/format";
import type { Command } from "./keys";
import styles from "./Terminal.module.css";
import { TerminalBanner } from "./TerminalBanner";
import { TerminalSearch } from "./TerminalSearch";
import { type TerminalHandle, useTerminal } from "./use-terminal";

interface Props {
  ref: React.Ref<TerminalHandle>;
  session: SessionDetail;
  container: string | undefined;
  tab: number;
  shown: boolean;
  active: boolean;
  searching: boolean;
  fontSize: number;
  onActive: () => void;
  onCommand: (command: Command) => void;
  onSearchEnd: () => void;
}

/** One shell, with the state of its connection. Hidden, it goes on. */
export function TerminalPane({
  ref,
  session,
  container,
  tab,
  shown,
  active,
  searching,
  fontSize,
  ...on
}: Props) {
  const { t } = useLingui();
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const terminal = useTerminal({
    sessionId: session.id,
    container,
    tab,
    active,
    onCommand: on.onCommand,
    box,
    fontSize,
    scheme,
    texts: {
      gap: (bytes) => t`${formatSize(bytes)} of output lost while disconnected`,
      fresh: t`The previous shell has ended. This is a new shell.`,
    },
  });
  useImperativeHandle(ref, () => terminal);
  return (
    <div
      id={`shell-${tab}`}
      role="tabpanel"
      aria-label={t`Shell ${tab}`}
      hidden={!shown}
      className={styles.pane}
      data-active={active || undefined}
      onFocusCapture={on.onActive}
    >
      <TerminalBanner
        state={terminal.state}
        pending={terminal.pending}
        ended={hasEnded(session.state)}
        reason={session.reason ?? null}
        onReopen={terminal.reopen}
        onDrop={terminal.dropPending}
      />
      {searching && (
        <TerminalSearch
          matches={terminal.matches}
          onFind={terminal.find}
          onClose={() => {
            terminal.find("");
            terminal.focus();
            on.onSearchEnd();
          }}
        />
      )}
      <div ref={box} className={styles.screen} data-terminal-state={terminal.state.kind} />
    </div>
  );
}
