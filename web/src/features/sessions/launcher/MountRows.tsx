import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Fieldset, Input, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Folder } from "@/api/types";
import { useMe } from "@/me/use-me";
import { MountFields } from "./MountFields";
import { freshMount, type MountRow, mountFault } from "./mounts";

interface Props {
  rows: MountRow[];
  /** The folders that can be mounted. */
  folders: Folder[];
  error?: ReactNode;
  onChange: (rows: MountRow[]) => void;
}

/** The folder mounts of the session, one row each; automatic mounts are listed. */
export function MountRows({ rows, folders, error, onChange }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const change = (index: number, part: Partial<MountRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  const automatic = folders.filter(
    ({ automatic, owner, id }) =>
      automatic && owner?.id === me.user.id && rows.every(({ folder }) => folder !== id),
  );
  return (
    <Fieldset legend={t`Folders`}>
      <Stack gap="xs">
        {rows.length === 0 && (
          <Text size="xs" c="dimmed">
            {folders.length === 0 ? (
              <Trans>
                Without a folder, files that you write in the session are lost when it ends.{" "}
                <Anchor
                  underline="always"
                  size="xs"
                  renderRoot={(props) => <Link {...props} to="/data" search={{ make: "one" }} />}
                >
                  Create folder
                </Anchor>
              </Trans>
            ) : (
              <Trans>Without a folder, files that you write in the session are lost when it ends.</Trans>
            )}
          </Text>
        )}
        {rows.map((row, index) => (
          <MountFields
            key={row.key}
            row={row}
            number={index + 1}
            folders={folders}
            fault={mountFault(rows, index)}
            onChange={(part) => change(index, part)}
            onRemove={() => onChange(rows.filter((_, at) => at !== index))}
          />
        ))}
        {automatic.length > 0 && (
          <Text size="xs" c="dimmed">
            <Trans>Mounted automatically: {automatic.map(({ name }) => name).join(", ")}</Trans>
          </Text>
        )}
        {error && <Input.Error>{error}</Input.Error>}
        {folders.length > 0 && (
          <Button
            size="compact-xs"
            variant="subtle"
            style={{ alignSelf: "flex-start" }}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => onChange([...rows, freshMount()])}
          >
            <Trans>Add folder</Trans>
          </Button>
        )}
      </Stack>
    </Fieldset>
  );
}
