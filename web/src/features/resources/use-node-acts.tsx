import { Trans, useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { Node } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useForgetNode, useUpdateNode } from "@/queries/nodes";
import type { NodesSearch } from "@/routing/search";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** The actions on nodes, with the reason for a refusal. `go` opens those that need a form. */
export function useNodeActs(go: (part: Partial<NodesSearch>) => void) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { mutateAsync: update } = useUpdateNode();
  const { mutateAsync: forget } = useForgetNode();
  return useMemo(() => {
    const why = refusal("node.update");
    return {
      why,
      whyNotDrain: (node: Node) => why ?? (node.draining ? t`The node is already draining.` : null),
      edit: (node: Node) => go({ edit: node.id }),
      drain: (node: Node) => go({ drain: node.id }),
      forget: (node: Node) =>
        askToConfirm({
          title: t`Forget node`,
          closeLabel: t`Close`,
          confirm: t`Forget`,
          typedName: node.name,
          command: commandLine("carrel", "node", "forget", node.name),
          onConfirm: async () => {
            await forget(node.name);
            go({ open: undefined });
          },
          children: (
            <Trans>
              Removes <b>{node.name}</b> from the list. Its sessions are terminated or restarted on other
              nodes, as its resource group defines. If the node returns, it keeps its current settings.
            </Trans>
          ),
        }),
      /** Cordons or uncordons a node. */
      setCordoned: async (node: Node, cordoned: boolean) => {
        try {
          await update({ id: node.id, cordoned });
        } catch (thrown) {
          notifications.show({
            color: "red",
            title: cordoned ? t`Could not cordon ${node.name}` : t`Could not uncordon ${node.name}`,
            message: problemText(thrown).detail,
          });
        }
      },
    };
  }, [t, refusal, problemText, update, forget, go]);
}

export type NodeActs = ReturnType<typeof useNodeActs>;
