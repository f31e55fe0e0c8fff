import { Trans } from "@lingui/react/macro";
import type { SessionDetail } from "@/api/types";
import { toScript } from "@/features/sessions/launcher/request";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import styles from "./SessionDrawer.module.css";

/** What a batch session runs, and its result. */
export function BatchFacts({ session }: { session: SessionDetail }) {
  const code = session.containers[0]?.exit_code ?? null;
  return (
    <>
      <dt>
        <Trans>Command</Trans>
      </dt>
      <dd>
        <pre className={styles.command}>{toScript(session.command)}</pre>
      </dd>
      {session.result && (
        <>
          <dt>
            <Trans>Result</Trans>
          </dt>
          <dd>
            <SessionBadge state={session.state} result={session.result} />{" "}
            {code !== null && <Trans>exit code {code}</Trans>}
          </dd>
        </>
      )}
      {session.retries > 0 && (
        <>
          <dt>
            <Trans>Retries</Trans>
          </dt>
          <dd>{session.retries}</dd>
        </>
      )}
    </>
  );
}
