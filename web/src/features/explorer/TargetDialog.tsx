import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { FileEntry, Folder } from "@/api/types";
import { permits } from "@/features/folders/words";
import { foldersChoiceQuery } from "@/queries/folders";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { DirectoryTree } from "./DirectoryTree";
import styles from "./Explorer.module.css";
import { isWithin, parentOf } from "./paths";

interface Props {
  folder: Folder;
  what: "move" | "copy";
  entries: FileEntry[];
  onChosen: (folder: string, directory: string) => void;
  onCancel: () => void;
}

/** Asks for the target directory of a move or copy; a copy may go to another folder. */
export function TargetDialog({ folder, what, entries, onChosen, onCancel }: Props) {
  const { t } = useLingui();
  const [into, setInto] = useState(folder.id);
  const [to, setTo] = useState("");
  useUnsavedInput(() => to !== "" || into !== folder.id);
  const others = (useQuery(foldersChoiceQuery).data ?? []).filter(
    ({ id, my_permission }) => id !== folder.id && permits(my_permission, "rw"),
  );
  const target = others.find(({ id }) => id === into) ?? folder;
  const paths = entries.map(({ path }) => path);
  const itself =
    into === folder.id && entries.some(({ path, kind }) => kind === "directory" && isWithin(to, path));
  const there = what === "move" && paths.every((path) => parentOf(path) === to);
  return (
    <Stack>
      <Text size="sm">
        <Plural
          value={entries.length}
          one="Select the destination."
          other="Select the destination of # entries."
        />
      </Text>
      {what === "copy" && others.length > 0 && (
        <Select
          label={t`Folder`}
          searchable
          allowDeselect={false}
          data={[folder, ...others].map(({ id, name }) => ({ value: id, label: name }))}
          value={into}
          onChange={(next) => {
            setInto(next ?? folder.id);
            setTo("");
          }}
        />
      )}
      <div className={styles.picker}>
        <DirectoryTree key={into} folder={into} name={target.name} current={to} onChoose={setTo} />
      </div>
      <CommandLine
        text={commandLine(
          "carrel",
          "vfolder",
          ...(what === "move" ? ["mv"] : ["cp", "-r"]),
          ...paths.slice(0, 3).map((path) => `${folder.name}:${path}`),
          `${target.name}:${to ? `${to}/` : ""}`,
        )}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          <Trans>Cancel</Trans>
        </Button>
        <Button disabled={itself || there} onClick={() => onChosen(into, to)}>
          {what === "move" ? <Trans>Move here</Trans> : <Trans>Copy here</Trans>}
        </Button>
      </Group>
    </Stack>
  );
}
