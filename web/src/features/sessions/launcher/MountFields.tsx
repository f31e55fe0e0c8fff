import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Checkbox, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { Folder } from "@/api/types";
import { PermissionText } from "@/features/folders/badges";
import { type MountFault, type MountRow, targetOf } from "./mounts";

interface Props {
  row: MountRow;
  number: number;
  folders: Folder[];
  fault: MountFault | null;
  onChange: (part: Partial<MountRow>) => void;
  onRemove: () => void;
}

/** One folder mount: folder, path, subpath and read-only flag. */
export function MountFields({ row, number, folders, fault, onChange, onRemove }: Props) {
  const { t } = useLingui();
  const chosen = folders.find(({ id }) => id === row.folder);
  const readable = chosen !== undefined && (chosen.my_permission === "ro" || chosen.permission === "ro");
  const faults: Record<MountFault, string | null> = {
    none: null,
    path: t`Use letters, digits, _ . and -, separated by /.`,
    home: t`A folder cannot be mounted over the home directory itself.`,
    overlap: t`Another folder is already mounted at this path.`,
  };
  const choose = (id: string | null) => {
    const folder = folders.find((one) => one.id === id);
    onChange({ folder: id ?? "", name: folder?.name ?? "" });
  };
  return (
    <Stack gap={6}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Select
          size="xs"
          style={{ flex: 2 }}
          aria-label={t`Folder ${number}`}
          placeholder={t`Select folder`}
          searchable
          nothingFoundMessage={t`Nothing found`}
          data={folders.map((one) => ({
            value: one.id,
            label: one.name,
          }))}
          value={row.folder || null}
          onChange={choose}
          comboboxProps={{ shadow: "md" }}
          renderOption={({ option }) => {
            const folder = folders.find(({ id }) => id === option.value);
            return (
              <Stack gap={0}>
                <Text size="sm">{option.label}</Text>
                {folder && (
                  <Text size="xs" c="dimmed" component="div">
                    <PermissionText permission={folder.my_permission} /> ·{" "}
                    {folder.project ? t`Project ${folder.project.name}` : folder.owner?.email} ·{" "}
                    {folder.host.name}
                  </Text>
                )}
              </Stack>
            );
          }}
        />
        <TextInput
          size="xs"
          style={{ flex: 3 }}
          aria-label={t`Mount path of folder ${number}`}
          placeholder={row.name ? targetOf({ path: "", name: row.name }) : "/home/work/…"}
          spellCheck={false}
          autoCapitalize="off"
          value={row.path}
          error={fault ? faults[fault] : null}
          onChange={(event) => onChange({ path: event.currentTarget.value })}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          mt={2}
          aria-label={t`Remove folder ${number}`}
          onClick={onRemove}
        >
          <IconX size={15} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="md">
        <TextInput
          size="xs"
          w={220}
          aria-label={t`Subdirectory of folder ${number}`}
          placeholder={t`Subdirectory, such as train/images`}
          spellCheck={false}
          value={row.subpath}
          onChange={(event) => onChange({ subpath: event.currentTarget.value })}
        />
        <Checkbox
          size="xs"
          label={readable ? <Trans>read-only: you have no write permission</Trans> : <Trans>read-only</Trans>}
          aria-label={t`Folder ${number} read-only`}
          checked={readable || row.readOnly}
          disabled={readable}
          onChange={(event) => onChange({ readOnly: event.currentTarget.checked })}
        />
      </Group>
    </Stack>
  );
}
