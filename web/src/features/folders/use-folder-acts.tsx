import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMemo } from "react";
import type { ActionName } from "@/api/actions";
import type { Folder } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useMe } from "@/me/use-me";
import { useLeaveFolder } from "@/queries/shares";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { DeleteDialog } from "./DeleteDialog";
import { RestoreDialog } from "./RestoreDialog";
import { TrashDialog } from "./TrashDialog";
import { permits } from "./words";

/** The actions on folders, with the reason for a refusal. */
export function useFolderActs() {
  const { t } = useLingui();
  const me = useMe();
  const refusal = useRefusal();
  const { mutateAsync: leave } = useLeaveFolder();

  return useMemo(() => {
    const ask = (title: string, dialog: (close: () => void) => React.ReactNode, onDone?: () => void) => {
      const id = modals.open({
        title,
        closeButtonProps: { "aria-label": t`Close` },
        children: dialog(() => {
          modals.close(id);
          onDone?.();
        }),
      });
    };
    /** Why the user may not act on the folder, or null. */
    const why = (action: ActionName, folder: Folder): string | null => {
      if (folder.mine) return null;
      // A folder without read permission is visible only to its administrators; for others, the server
      // decides.
      const administers = folder.my_permission === null || me.actions[action] === "all";
      if (administers && refusal(action) === null) return null;
      return t`Only the owner and administrators can do this.`;
    };
    const inUse = (folder: Folder) =>
      folder.mounted > 0 ? t`The folder is mounted in live sessions. Terminate them first.` : null;
    const notReady = (folder: Folder) => (folder.state === "READY" ? null : t`The folder is not ready.`);
    return {
      why,
      whyNotOpen: (folder: Folder) => {
        if (folder.my_permission === null) return t`You can manage this folder, but not see its files.`;
        return ["READY", "MOVING"].includes(folder.state) ? null : t`The folder is not ready.`;
      },
      whyNotShare: (folder: Folder) => {
        if (!folder.mine) return t`Only the owner can share this folder.`;
        return folder.automatic ? t`Auto-mounted folders cannot be shared.` : notReady(folder);
      },
      whyNotChange: (folder: Folder) => why("vfolder.update", folder) ?? notReady(folder),
      whyNotClone: (folder: Folder) =>
        permits(folder.my_permission, "ro")
          ? notReady(folder)
          : t`You have no access to the files in this folder.`,
      whyNotMove: (folder: Folder) => why("vfolder.update", folder) ?? notReady(folder) ?? inUse(folder),
      whyNotHandOver: (folder: Folder) =>
        why("vfolder.hand_over", folder) ?? notReady(folder) ?? inUse(folder),
      whyNotTrash: (folder: Folder) => why("vfolder.update", folder) ?? notReady(folder) ?? inUse(folder),
      whyNotRestore: (folder: Folder) =>
        why("vfolder.update", folder) ??
        (folder.state === "TRASHED" ? null : t`The folder is being deleted.`),
      whyNotDelete: (folder: Folder) =>
        why("vfolder.remove", folder) ??
        (["TRASHED", "FAILED"].includes(folder.state) ? null : t`Move it to the trash first.`),
      trash: (folders: Folder[], onDone?: () => void) =>
        ask(t`Move to trash`, (close) => <TrashDialog folders={folders} onDone={close} />, onDone),
      restore: (folders: Folder[], onDone?: () => void) =>
        ask(t`Restore from trash`, (close) => <RestoreDialog folders={folders} onDone={close} />, onDone),
      remove: (folders: Folder[], onDone?: () => void) =>
        ask(t`Delete permanently`, (close) => <DeleteDialog folders={folders} onDone={close} />, onDone),
      leave: (folder: Folder, onDone?: () => void) =>
        askToConfirm({
          title: t`Leave folder`,
          closeLabel: t`Close`,
          confirm: t`Leave`,
          command: commandLine("carrel", "vfolder", "leave", folder.id),
          onConfirm: async () => {
            await leave(folder.id);
            onDone?.();
          },
          children: (
            <Text size="sm">
              <Trans>
                You lose access to <b>{folder.name}</b> until you are invited again. Your live sessions keep
                it mounted until they end.
              </Trans>
            </Text>
          ),
        }),
    };
  }, [t, me, refusal, leave]);
}

export type FolderActs = ReturnType<typeof useFolderActs>;
