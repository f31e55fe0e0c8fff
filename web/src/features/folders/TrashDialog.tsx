import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder } from "@/api/types";
import { useTrashFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { ManyDialog } from "@/ui/form/ManyDialog";

/** Moves folders to the trash, one after another. */
export function TrashDialog({ folders, onDone }: { folders: Folder[]; onDone: () => void }) {
  const { t } = useLingui();
  const trash = useTrashFolder();
  const first = folders[0];
  return (
    <ManyDialog
      items={folders}
      confirm={t`Move to trash`}
      command={commandLine("carrel", "vfolder", "trash", ...folders.map((folder) => folder.name))}
      dangerous
      act={({ id }) => trash.mutateAsync(id)}
      onDone={onDone}
    >
      <Text size="sm">
        {folders.length === 1 && first ? (
          <Trans>
            No one can use <b>{first.name}</b> while it is in the trash, including users it is shared with.
            You can restore it until it expires.
          </Trans>
        ) : (
          <Plural
            value={folders.length}
            one="No one can use # folder while it is in the trash, including users it is shared with. You can restore it until it expires."
            other="No one can use # folders while they are in the trash, including users they are shared with. You can restore them until they expire."
          />
        )}
      </Text>
    </ManyDialog>
  );
}
