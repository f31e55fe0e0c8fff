import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder } from "@/api/types";
import { useTrashFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { ManyDialog } from "@/ui/form/ManyDialog";

/** Puts folders in the trash, one after another. */
export function TrashDialog({ folders, onDone }: { folders: Folder[]; onDone: () => void }) {
  const { t } = useLingui();
  const trash = useTrashFolder();
  const first = folders[0];
  return (
    <ManyDialog
      items={folders}
      confirm={t`Move to the trash`}
      command={commandLine("carrel", "vfolder", "trash", ...folders.map((folder) => folder.name))}
      dangerous
      act={({ id }) => trash.mutateAsync(id)}
      onDone={onDone}
    >
      <Text size="sm">
        {folders.length === 1 && first ? (
          <Trans>
            <b>{first.name}</b> can no longer be used, neither by those whom it is shared with. It can be
            taken back until it expires.
          </Trans>
        ) : (
          <Plural
            value={folders.length}
            one="# folder can no longer be used, neither by those whom it is shared with. It can be taken back until it expires."
            other="# folders can no longer be used, neither by those whom they are shared with. They can be taken back until they expire."
          />
        )}
      </Text>
    </ManyDialog>
  );
}
