import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { SessionApp } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import type { StateLook } from "@/ui/state-looks";

const LOOKS: Record<SessionApp["state"], StateLook> = {
  ready: "ok",
  starting: "starting",
  stopped: "off",
  unreachable: "warning",
  failed: "failed",
  missing: "unknown",
};

/** The state of an app of a session. */
export function AppStateBadge({ app }: { app: SessionApp }) {
  return (
    <StateBadge look={LOOKS[app.state]} state={app.state}>
      {words(app)}
    </StateBadge>
  );
}

function words({ state, kind, protocol, port, exit_code }: SessionApp): ReactNode {
  switch (state) {
    case "ready":
      return kind === null ? <Trans>port {port} is open</Trans> : <Trans>started</Trans>;
    case "starting":
      return <Trans>starting</Trans>;
    case "unreachable":
      return kind === null ? <Trans>nothing listens on port {port}</Trans> : <Trans>does not respond</Trans>;
    case "failed":
      return <Trans>ended with exit code {exit_code}</Trans>;
    case "missing":
      return <Trans>not in this image</Trans>;
    default:
      return protocol === "tcp" ? <Trans>not started</Trans> : <Trans>starts on open</Trans>;
  }
}
