import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Node } from "@/api/types";

/** The condition of a node that matters most for scheduling. */
export type NodeCondition = "ready" | "down" | "cordoned" | "draining";

export function conditionOf(node: Pick<Node, "state" | "cordoned" | "draining">): NodeCondition {
  if (node.state === "DOWN") return "down";
  if (node.draining) return "draining";
  return node.cordoned ? "cordoned" : "ready";
}

const WORDS: Record<NodeCondition, MessageDescriptor> = {
  ready: msg`Ready`,
  down: msg`Down`,
  cordoned: msg`Cordoned`,
  draining: msg`Draining`,
};

/** Whether a node accepts sessions, as text. */
export function useNodeState() {
  const { i18n } = useLingui();
  return useCallback(
    (node: Pick<Node, "state" | "cordoned" | "draining">) => {
      const kind = conditionOf(node);
      return { kind, word: i18n._(WORDS[kind]) };
    },
    [i18n],
  );
}
