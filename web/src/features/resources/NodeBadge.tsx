import { useLingui } from "@lingui/react/macro";
import type { Node } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import type { StateLook } from "@/ui/state-looks";
import { type NodeCondition, useNodeState } from "./use-node-state";

const LOOKS: Record<NodeCondition, StateLook> = {
  ready: "ok",
  down: "down",
  cordoned: "closed",
  draining: "draining",
  closed: "closed",
};

/** The state of a node as a badge. */
export function NodeBadge({ node }: { node: Node }) {
  const { word, kind } = useNodeState()(node);
  const { t } = useLingui();
  const closed = kind === "down" && node.cordoned;
  return (
    <StateBadge look={LOOKS[kind]} state={kind}>
      {closed ? t`${word}, cordoned` : word}
    </StateBadge>
  );
}
