import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Node } from "@/api/types";

/** The condition of a node that matters most for scheduling. */
export type NodeCondition = "ready" | "down" | "cordoned" | "draining" | "closed";

type Conditions = Pick<Node, "state" | "cordoned" | "draining" | "closed">;

export function conditionOf(node: Conditions): NodeCondition {
  if (node.state === "DOWN") return "down";
  if (node.draining) return "draining";
  if (node.cordoned) return "cordoned";
  return node.closed ? "closed" : "ready";
}

const WORDS: Record<NodeCondition, MessageDescriptor> = {
  ready: msg`Ready`,
  down: msg`Down`,
  cordoned: msg`Cordoned`,
  draining: msg`Draining`,
  closed: msg({ context: "node", message: "Closed" }),
};

/** Whether a node accepts sessions, as text. */
export function useNodeState() {
  const { i18n } = useLingui();
  return useCallback(
    (node: Conditions) => {
      const kind = conditionOf(node);
      return { kind, word: i18n._(WORDS[kind]) };
    },
    [i18n],
  );
}
