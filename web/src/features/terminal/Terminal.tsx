import { useLingui } from "@lingui/react/macro";
import { useComputedColorScheme } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { useRef } from "react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { formatSize } from "@/ui/format";
import { PhoneKeys } from "./PhoneKeys";
import styles from "./Terminal.module.css";
import { TerminalBanner } from "./TerminalBanner";
import { TerminalBar } from "./TerminalBar";
import { useTerminal } from "./use-terminal";

/** The terminal with its toolbar, and on a touch screen extra keys below. */
export function Terminal({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const touch = useMediaQuery("(pointer: coarse)") ?? false;
  const [fontSize, setFontSize] = useLocalStorage({
    key: "carrel.terminal.font-size",
    defaultValue: 14,
    getInitialValueInEffect: false,
  });
  const terminal = useTerminal({
    sessionId: session.id,
    box,
    fontSize,
    scheme,
    texts: {
      gap: (bytes) => t`${formatSize(bytes)} of output lost while disconnected`,
      fresh: t`The previous shell has ended. This is a new shell.`,
    },
  });
  return (
    <div className={styles.terminal}>
      <TerminalBar
        session={session}
        fontSize={fontSize}
        onFontSize={(size) => setFontSize(Math.max(8, Math.min(28, size)))}
        onCopy={terminal.copy}
      />
      <TerminalBanner
        state={terminal.state}
        pending={terminal.pending}
        ended={hasEnded(session.state)}
        reason={session.reason ?? null}
        onReopen={terminal.reopen}
        onDrop={terminal.dropPending}
      />
      <div ref={box} className={styles.screen} data-terminal-state={terminal.state.kind} />
      {touch && <PhoneKeys onKey={terminal.send} onFocus={terminal.focus} />}
    </div>
  );
}
