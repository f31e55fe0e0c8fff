import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import { IconFolder, IconFolderBolt, IconUsers } from "@tabler/icons-react";
import type { Folder } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { FolderStateBadge, OwnerText, PermissionText } from "./badges";
import { TaskBar } from "./TaskBar";
import { USAGE_MODE_NAMES } from "./words";

function NameCell({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const Icon = folder.automatic ? IconFolderBolt : IconFolder;
  return (
    <Group gap={8} wrap="nowrap">
      <Icon
        size={17}
        stroke={1.6}
        style={{ flexShrink: 0 }}
        aria-label={folder.automatic ? t`Mounted automatically into each session` : undefined}
        aria-hidden={!folder.automatic}
      />
      <Text size="sm" fw={500} truncate title={folder.name}>
        {folder.name}
      </Text>
      <FolderStateBadge folder={folder} />
      {folder.shared > 0 && (
        <Group gap={2} wrap="nowrap" c="dimmed" title={t`Shared with ${folder.shared}`}>
          <IconUsers size={14} aria-hidden />
          <Text size="xs">{folder.shared}</Text>
        </Group>
      )}
      {folder.task && <TaskBar task={folder.task} bare />}
    </Group>
  );
}

function ModeText({ mode }: { mode: Folder["usage_mode"] }) {
  const { i18n } = useLingui();
  return i18n._(USAGE_MODE_NAMES[mode]);
}

/** The keys of sortable columns are the server's sort keys. */
export const FOLDER_COLUMNS: readonly Column<Folder>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (folder) => folder.name,
    cell: (folder) => <NameCell folder={folder} />,
  },
  { key: "host", title: msg`Host`, width: "7rem", value: (folder) => folder.host.name },
  {
    key: "owner",
    title: msg`Owner`,
    width: "12rem",
    value: (folder) => folder.project?.name ?? folder.owner?.email ?? null,
    cell: (folder) => <OwnerText folder={folder} />,
  },
  {
    key: "permission",
    title: msg`Your permission`,
    width: "11rem",
    value: (folder) => folder.my_permission,
    cell: (folder) => <PermissionText permission={folder.my_permission} />,
  },
  {
    key: "usage_mode",
    title: msg`Usage`,
    width: "6.5rem",
    shown: "chosen",
    value: (folder) => folder.usage_mode,
    cell: (folder) => <ModeText mode={folder.usage_mode} />,
  },
  {
    key: "used_bytes",
    title: msg`Size`,
    width: "6.5rem",
    sortable: true,
    value: (folder) => folder.used_bytes,
    cell: (folder) => (folder.measured_at ? formatSize(folder.used_bytes) : "–"),
  },
  {
    key: "files",
    title: msg`Files`,
    width: "6rem",
    shown: "chosen",
    value: (folder) => (folder.measured_at ? folder.files : null),
  },
  { key: "mounted", title: msg`Mounted in`, width: "6.5rem", value: (folder) => folder.mounted },
  {
    key: "id",
    title: msg`Id`,
    width: "14rem",
    shown: "chosen",
    value: (folder) => folder.id,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    shown: "chosen",
    sortable: true,
    value: (folder) => folder.created_at,
    cell: (folder) => <Instant at={folder.created_at} />,
  },
];

const instant = (at: string | null) => (at ? <Instant at={at} /> : "–");

/** Columns of the trash, with the deletion and expiry times. */
export const TRASH_COLUMNS: readonly Column<Folder>[] = [
  ...FOLDER_COLUMNS.filter(({ key }) => ["name", "host", "owner", "used_bytes"].includes(key)),
  {
    key: "trashed_at",
    title: msg`Moved to trash`,
    width: "12rem",
    sortable: true,
    value: (folder) => folder.trashed_at,
    cell: (folder) => instant(folder.trashed_at),
  },
  {
    key: "expires_at",
    title: msg`Deletion date`,
    width: "12rem",
    value: (folder) => folder.expires_at,
    cell: (folder) => instant(folder.expires_at),
  },
];

export const FOLDER_FIELDS: CsvFields<Folder> = [
  ["id", (folder) => folder.id],
  ["name", (folder) => folder.name],
  ["host", (folder) => folder.host.name],
  ["owner", (folder) => folder.owner?.email],
  ["project", (folder) => folder.project?.name],
  ["usage_mode", (folder) => folder.usage_mode],
  ["permission", (folder) => folder.permission],
  ["my_permission", (folder) => folder.my_permission],
  ["state", (folder) => folder.state],
  ["used_bytes", (folder) => folder.used_bytes],
  ["files", (folder) => folder.files],
  ["shared", (folder) => folder.shared],
  ["mounted", (folder) => folder.mounted],
  ["created_at", (folder) => folder.created_at],
  ["trashed_at", (folder) => folder.trashed_at],
];
