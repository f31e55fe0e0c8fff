import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Folder } from "@/api/types";
import { useRemoveFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { ManyDialog } from "@/ui/form/ManyDialog";
import { formatSize } from "@/ui/format";

/** Deletes folders in the trash permanently, after the user typed a confirmation. */
export function DeleteDialog({ folders, onDone }: { folders: Folder[]; onDone: () => void }) {
  const { t } = useLingui();
  const remove = useRemoveFolder();
  const [typed, setTyped] = useState("");
  const names = new Map(folders.map(({ id, name }) => [id, name]));
  const first = folders[0];
  const phrase = folders.length === 1 ? (first?.name ?? "") : `delete ${folders.length}`;
  const size = formatSize(folders.reduce((sum, { used_bytes }) => sum + used_bytes, 0));
  const files = folders.reduce((sum, one) => sum + one.files, 0);
  return (
    <ManyDialog
      items={folders}
      confirm={t`Delete permanently`}
      command={commandLine("carrel", "vfolder", "rm", ...folders.map((folder) => folder.id))}
      dangerous
      ready={typed === phrase}
      act={({ id }) => remove.mutateAsync({ id, name: names.get(id) ?? "" })}
      onDone={onDone}
    >
      <Text size="sm">
        <Plural
          value={folders.length}
          one="The folder and all its files are deleted. This cannot be undone."
          other="These # folders and all their files are deleted. This cannot be undone."
        />
      </Text>
      <Text size="sm">
        <Trans>
          This deletes {size} in <Plural value={files} one="# file" other="# files" /> (last measurement).
        </Trans>
      </Text>
      <TextInput
        label={t`Type ${phrase} to confirm`}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
    </ManyDialog>
  );
}
