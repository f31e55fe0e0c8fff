import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Engine } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { StateLook } from "@/ui/state-looks";
import type { Column } from "@/ui/table/column";
import { engineKindTitle } from "./engine-words";

const LOOKS: Record<Engine["state"], StateLook> = { READY: "ok", DOWN: "down", UNKNOWN: "unknown" };

/** The state of an engine as a badge. */
export function EngineBadge({ state }: { state: Engine["state"] }) {
  return (
    <StateBadge look={LOOKS[state]} state={state}>
      {state === "READY" ? (
        <Trans>Ready</Trans>
      ) : state === "DOWN" ? (
        <Trans>Down</Trans>
      ) : (
        <Trans>Not checked yet</Trans>
      )}
    </StateBadge>
  );
}

function KindTitle({ engine }: { engine: Engine }) {
  const { i18n } = useLingui();
  return engineKindTitle(i18n, engine.kind, engine.kind_title);
}

export const ENGINE_COLUMNS: readonly Column<Engine>[] = [
  { key: "name", title: msg`Name`, shown: "always", value: (engine) => engine.name },
  {
    key: "kind",
    title: msg`Kind`,
    width: "10rem",
    value: (engine) => engine.kind_title,
    cell: (engine) => <KindTitle engine={engine} />,
  },
  {
    key: "state",
    title: msg`State`,
    width: "9rem",
    value: (engine) => engine.state,
    cell: (engine) => <EngineBadge state={engine.state} />,
  },
  {
    key: "since",
    title: msg`Since`,
    width: "13rem",
    value: (engine) => engine.state_since,
    cell: (engine) => <Instant at={engine.state_since} />,
  },
  { key: "nodes", title: msg`Nodes`, width: "6rem", value: (engine) => engine.nodes },
  { key: "containers", title: msg`Containers`, width: "7rem", value: (engine) => engine.containers },
  { key: "last_error", title: msg`Last error`, value: (engine) => engine.last_error },
];
