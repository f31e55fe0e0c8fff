import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder } from "@/api/types";
import { useRestoreFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { ManyDialog } from "@/ui/form/ManyDialog";

/** Restores folders from the trash, one after another. */
export function RestoreDialog({ folders, onDone }: { folders: Folder[]; onDone: () => void }) {
  const { t } = useLingui();
  const restore = useRestoreFolder();
  const first = folders[0];
  return (
    <ManyDialog
      items={folders}
      confirm={t`Restore`}
      command={commandLine("carrel", "vfolder", "restore", ...folders.map((folder) => folder.id))}
      act={({ id }) => restore.mutateAsync(id)}
      onDone={onDone}
    >
      <Text size="sm">
        {folders.length === 1 && first ? (
          <Trans>
            Restores <b>{first.name}</b> and its files for everyone who had access.
          </Trans>
        ) : (
          <Plural
            value={folders.length}
            one="Restores # folder and its files for everyone who had access."
            other="Restores # folders and their files for everyone who had access."
          />
        )}
      </Text>
    </ManyDialog>
  );
}
