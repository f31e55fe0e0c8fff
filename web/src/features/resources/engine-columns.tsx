import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { IconCircleCheck, IconPlugConnectedX, IconQuestionMark } from "@tabler/icons-react";
import type { Engine } from "@/api/types";
import { Instant } from "@/ui/Instant";
import styles from "@/ui/StateBadge.module.css";
import type { Column } from "@/ui/table/column";

const LOOKS = {
  READY: { tone: "good", icon: IconCircleCheck },
  DOWN: { tone: "bad", icon: IconPlugConnectedX },
  UNKNOWN: { tone: "quiet", icon: IconQuestionMark },
} as const;

/** The state of an engine as a badge. */
export function EngineBadge({ state }: { state: Engine["state"] }) {
  const { tone, icon: Icon } = LOOKS[state];
  return (
    <span className={`${styles.badge} ${styles[tone]}`} data-state={state}>
      <Icon size={13} stroke={2.2} aria-hidden />
      {state === "READY" ? (
        <Trans>Ready</Trans>
      ) : state === "DOWN" ? (
        <Trans>Down</Trans>
      ) : (
        <Trans>Not checked yet</Trans>
      )}
    </span>
  );
}

export const ENGINE_COLUMNS: readonly Column<Engine>[] = [
  { key: "name", title: msg`Name`, shown: "always", value: (engine) => engine.name },
  { key: "kind", title: msg`Kind`, width: "10rem", value: (engine) => engine.kind_title },
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
    width: "11rem",
    value: (engine) => engine.state_since,
    cell: (engine) => <Instant at={engine.state_since} />,
  },
  { key: "nodes", title: msg`Nodes`, width: "6rem", value: (engine) => engine.nodes },
  { key: "containers", title: msg`Containers`, width: "7rem", value: (engine) => engine.containers },
  { key: "last_error", title: msg`Last error`, value: (engine) => engine.last_error },
];
