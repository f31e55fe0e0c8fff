import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { Node } from "@/api/types";
import type { NodesSearch } from "@/app/search";
import { useUpdateNode } from "@/queries/nodes-change";
import { useProblemText } from "@/sentences/use-problem-text";
import { useRefusal } from "@/shell/may";

/** What can be done with nodes, and why not. `go` opens what needs a form. */
export function useNodeActs(go: (part: Partial<NodesSearch>) => void) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const said = useProblemText();
  const { mutateAsync: update } = useUpdateNode();
  return useMemo(() => {
    const why = refusal("node.update");
    return {
      why,
      whyNotDrain: (node: Node) => why ?? (node.draining ? t`It is being drained already.` : null),
      edit: (node: Node) => go({ edit: node.id }),
      drain: (node: Node) => go({ drain: node.id }),
      /** Closes a node to new sessions, or opens it to them again. */
      setCordoned: async (node: Node, cordoned: boolean) => {
        try {
          await update({ id: node.id, cordoned });
        } catch (thrown) {
          notifications.show({
            color: "red",
            title: cordoned ? t`Could not cordon ${node.name}` : t`Could not uncordon ${node.name}`,
            message: said(thrown).detail,
          });
        }
      },
    };
  }, [t, refusal, said, update, go]);
}

export type NodeActs = ReturnType<typeof useNodeActs>;
