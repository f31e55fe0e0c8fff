import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder } from "@/api/types";
import { useRestoreFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { ManyDialog } from "@/ui/form/ManyDialog";

/** Takes folders back from the trash, one after another. */
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
            <b>{first.name}</b> can be used again, with all that is in it, by everybody who had it.
          </Trans>
        ) : (
          <Plural
            value={folders.length}
            one="# folder can be used again, by everybody who had it."
            other="# folders can be used again, by everybody who had them."
          />
        )}
      </Text>
    </ManyDialog>
  );
}
