import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Group } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveGroup } from "@/queries/groups";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** The default group, which always exists: new nodes join it. */
const DEFAULT = "default";

/** The actions on resource groups, with the reason for a refusal. */
export function useGroupActs() {
  const { t } = useLingui();
  const refusal = useRefusal();
  const { mutateAsync: remove } = useRemoveGroup();
  return useMemo(() => {
    const whyKept = (group: Group) => {
      if (group.id === DEFAULT) return t`The default group cannot be removed: new nodes join it.`;
      if (group.nodes > 0) return t`The group still has nodes. Move them to another group first.`;
      return group.live_sessions > 0 ? t`The group still has live sessions.` : null;
    };
    return {
      why: refusal("group.update"),
      whyNotMake: refusal("group.create"),
      whyNotRemove: (group: Group) => refusal("group.remove") ?? whyKept(group),
      remove: (group: Group, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove resource group`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          typedName: group.name,
          command: commandLine("carrel", "group", "rm", group.name),
          onConfirm: async () => {
            await remove(group.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{group.name}</b>, its settings, weights and access list. This cannot be undone.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, remove]);
}

export type GroupActs = ReturnType<typeof useGroupActs>;
