import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { Problem } from "@/api/problem";
import { useProblemText } from "@/sentences/use-problem-text";
import { useSessionText } from "@/sentences/use-session-text";
import { formatSize } from "@/ui/format";
import type { LinkState } from "./link";
import styles from "./Terminal.module.css";

interface Props {
  state: LinkState;
  /** Bytes of a paste still to be sent. */
  pending: number;
  ended: boolean;
  reason: string | null;
  onReopen: () => void;
  onDrop: () => void;
}

/** Smaller pastes are sent before a message could be read. */
const WORTH_SAYING = 32 * 1024;

/** The connection state, if it is worth showing. */
export function TerminalBanner({ state, pending, ended, reason, onReopen, onDrop }: Props) {
  const sessionText = useSessionText();
  const refused = useProblemText();
  // When the session has ended, the state of the shell no longer matters.
  if (ended) {
    return (
      <div className={styles.banner} data-tone="bad" role="status">
        <Trans>The session has ended.</Trans> {reason && sessionText.reason(reason)}
      </div>
    );
  }
  if (state.kind === "connecting") {
    return (
      <div className={styles.banner} data-tone="quiet" role="status">
        <Trans>Opening a shell…</Trans>
      </div>
    );
  }
  if (state.kind === "reconnecting") {
    return (
      <div className={styles.banner} role="status">
        <Trans>Connection lost. Reconnecting… The shell keeps running; input is paused.</Trans>
      </div>
    );
  }
  if (state.kind === "exited") {
    return (
      <div className={styles.banner} data-tone="quiet" role="status">
        {state.code === null ? (
          <Trans>The shell has ended.</Trans>
        ) : (
          <Trans>The shell ended with code {state.code}.</Trans>
        )}
        <Reopen onReopen={onReopen} />
      </div>
    );
  }
  if (state.kind === "refused") {
    return (
      <div className={styles.banner} data-tone="bad" role="alert">
        {refused(new Problem({ status: 403, code: state.code, detail: state.detail })).detail || (
          <Trans>The server refused to open a shell.</Trans>
        )}{" "}
        ({state.code})
        <Reopen onReopen={onReopen} taken={state.code === "terminal.taken"} />
      </div>
    );
  }
  if (pending < WORTH_SAYING) return null;
  return (
    <div className={styles.banner} data-tone="quiet" role="status">
      <Trans>Pasting: {formatSize(pending)} left.</Trans>
      <Button size="compact-xs" variant="default" onClick={onDrop}>
        <Trans>Stop</Trans>
      </Button>
    </div>
  );
}

function Reopen({ onReopen, taken = false }: { onReopen: () => void; taken?: boolean }) {
  return (
    <Button size="compact-xs" variant="default" onClick={onReopen}>
      {taken ? <Trans>Open here</Trans> : <Trans>Open a new shell</Trans>}
    </Button>
  );
}
