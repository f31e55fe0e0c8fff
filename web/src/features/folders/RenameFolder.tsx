import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Text, TextInput, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import type { Folder } from "@/api/types";
import { useUpdateFolder } from "@/queries/folders";
import { useProblemText } from "@/sentences/use-problem-text";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { isFolderName } from "./command";

/** Stable between renders, so that the input is focused only once. */
const giveFocus = (input: HTMLInputElement | null) => input?.focus();

/** The name of a folder, editable in place. */
export function RenameFolder({ folder, refusal }: { folder: Folder; refusal: string | null }) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const update = useUpdateFolder();
  const [name, setName] = useState<string | null>(null);
  useUnsavedInput(() => name !== null && name !== folder.name && !update.isPending);
  const label = refusal ? t`Rename. ${refusal}` : t`Rename`;
  if (name === null) {
    return (
      <Group gap={2} wrap="nowrap">
        <Text size="sm">{folder.name}</Text>
        <Tooltip label={label}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={label}
            aria-disabled={refusal !== null || undefined}
            data-disabled={refusal !== null || undefined}
            onClick={refusal ? undefined : () => setName(folder.name)}
          >
            <IconPencil size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    );
  }
  const fault = isFolderName(name) ? null : t`1 to 64 letters, digits, -, _ or .`;
  const save = () => {
    if (fault) return;
    if (name === folder.name) return setName(null);
    update.mutate({ id: folder.id, name }, { onSuccess: () => setName(null) });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Group gap="xs" align="flex-start">
        <TextInput
          size="xs"
          aria-label={t`New name`}
          data-autofocus
          // In a modal drawer, Escape leaves only this field.
          data-mantine-stop-propagation
          ref={giveFocus}
          value={name}
          error={fault ?? (update.error ? problemText(update.error).detail : null)}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            setName(null);
          }}
        />
        <Button size="xs" type="submit" loading={update.isPending} disabled={fault !== null}>
          <Trans>Save</Trans>
        </Button>
        <Button size="xs" variant="default" onClick={() => setName(null)}>
          <Trans>Cancel</Trans>
        </Button>
      </Group>
    </form>
  );
}
