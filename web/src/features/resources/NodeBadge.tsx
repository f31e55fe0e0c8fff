import { useLingui } from "@lingui/react/macro";
import { IconCircleCheck, IconDoorExit, IconLock, IconPlugConnectedX } from "@tabler/icons-react";
import type { Node } from "@/api/types";
import styles from "@/ui/StateBadge.module.css";
import { useNodeState } from "./use-node-state";

const LOOKS = {
  ready: { tone: "good", icon: IconCircleCheck },
  down: { tone: "bad", icon: IconPlugConnectedX },
  cordoned: { tone: "quiet", icon: IconLock },
  draining: { tone: "busy", icon: IconDoorExit },
} as const;

/** The state of a node as a badge. */
export function NodeBadge({ node }: { node: Node }) {
  const { word, kind } = useNodeState()(node);
  const { t } = useLingui();
  const { tone, icon: Icon } = LOOKS[kind];
  const closed = kind === "down" && node.cordoned;
  return (
    <span className={`${styles.badge} ${styles[tone]}`} data-state={kind}>
      <Icon size={13} stroke={2.2} aria-hidden />
      {closed ? t`${word}, cordoned` : word}
    </span>
  );
}
