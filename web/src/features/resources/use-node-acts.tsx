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

/** What can be done with nodes, and why not. `go` opens what needs a form. */
export function useNodeActs(go: (part: Partial<NodesSearch>) => void) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const said = useProblemText();
  const { mutateAsync: update } = useUpdateNode();
  const { mutateAsync: forget } = useForgetNode();
  return useMemo(() => {
    const why = refusal("node.update");
    return {
      why,
      whyNotDrain: (node: Node) => why ?? (node.draining ? t`It is being drained already.` : null),
      edit: (node: Node) => go({ edit: node.id }),
      drain: (node: Node) => go({ drain: node.id }),
      forget: (node: Node) =>
        askToConfirm({
          title: t`Forget a node`,
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
              <b>{node.name}</b> is not listed any more. Sessions on it end, or start again elsewhere, as its
              resource group says. Should it come back, it has the settings that it has now.
            </Trans>
          ),
        }),
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
  }, [t, refusal, said, update, forget, go]);
}

export type NodeActs = ReturnType<typeof useNodeActs>;
