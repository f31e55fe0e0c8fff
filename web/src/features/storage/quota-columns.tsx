import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import type { Quota } from "@/api/types";
import { LevelBadge } from "@/features/folders/badges";
import { UsageBar } from "@/features/folders/UsageBar";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

function FoldersText({ quota: { folders, most_folders: most } }: { quota: Quota }) {
  return most === null ? (
    folders
  ) : (
    <Trans>
      {folders} of {most}
    </Trans>
  );
}

/** The keys of sortable columns are the server's sort keys. */
export const QUOTA_COLUMNS: readonly Column<Quota>[] = [
  { key: "label", title: msg`Owner`, shown: "always", sortable: true, value: (quota) => quota.label },
  {
    key: "kind",
    title: msg`Kind`,
    width: "7rem",
    value: (quota) => quota.kind,
    cell: (quota) => (quota.kind === "user" ? <Trans>user</Trans> : <Trans>project</Trans>),
  },
  {
    key: "folders",
    title: msg`Folders`,
    width: "8rem",
    value: (quota) => quota.folders,
    cell: (quota) => <FoldersText quota={quota} />,
  },
  {
    key: "used_bytes",
    title: msg`Storage`,
    width: "16rem",
    sortable: true,
    value: (quota) => quota.used_bytes,
    cell: (quota) => (
      <Stack gap={2}>
        <UsageBar used={quota.used_bytes} most={quota.most_bytes} level={quota.level} />
      </Stack>
    ),
  },
  {
    key: "level",
    title: msg`Free space`,
    width: "8rem",
    value: (quota) => quota.level,
    cell: (quota) => <LevelBadge level={quota.level} />,
  },
  {
    key: "measured_at",
    title: msg`Last measured`,
    width: "12rem",
    value: (quota) => quota.measured_at,
    cell: (quota) => (quota.measured_at ? <Instant at={quota.measured_at} /> : "–"),
  },
];

export const QUOTA_FIELDS: CsvFields<Quota> = [
  ["kind", (quota) => quota.kind],
  ["id", (quota) => quota.id],
  ["label", (quota) => quota.label],
  ["folders", (quota) => quota.folders],
  ["most_folders", (quota) => quota.most_folders],
  ["used_bytes", (quota) => quota.used_bytes],
  ["most_bytes", (quota) => quota.most_bytes],
  ["level", (quota) => quota.level],
  ["measured_at", (quota) => quota.measured_at],
];
