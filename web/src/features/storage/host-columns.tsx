import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import type { StorageHost } from "@/api/types";
import { LevelBadge } from "@/features/folders/badges";
import { UsageBar } from "@/features/folders/UsageBar";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { HostBadge } from "./HostBadge";
import { BACKENDS } from "./words";

function BackendText({ backend }: { backend: StorageHost["backend"] }) {
  const { i18n } = useLingui();
  const words = BACKENDS[backend];
  return words ? i18n._(words.title) : backend;
}

/** The keys of sortable columns are the server's sort keys. */
export const HOST_COLUMNS: readonly Column<StorageHost>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (host) => host.name,
    cell: (host) => (
      <Text size="sm" fw={500} truncate title={host.description || undefined}>
        {host.name}
      </Text>
    ),
  },
  {
    key: "state",
    title: msg`State`,
    width: "9rem",
    value: (host) => host.state,
    cell: (host) => <HostBadge host={host} />,
  },
  {
    key: "backend",
    title: msg`Kind`,
    width: "7rem",
    shown: "chosen",
    value: (host) => host.backend,
    cell: (host) => <BackendText backend={host.backend} />,
  },
  {
    key: "space",
    title: msg`Storage`,
    width: "13rem",
    value: (host) => host.free_bytes,
    cell: (host) =>
      host.total_bytes === null || host.free_bytes === null ? (
        "–"
      ) : (
        <Stack gap={2}>
          <UsageBar used={host.total_bytes - host.free_bytes} most={host.total_bytes} level={host.level} />
        </Stack>
      ),
  },
  {
    key: "level",
    title: msg`Free space`,
    width: "7.5rem",
    value: (host) => host.level,
    cell: (host) => <LevelBadge level={host.level} />,
  },
  { key: "folders", title: msg`Folders`, width: "6rem", value: (host) => host.folders },
  {
    key: "used_bytes",
    title: msg`Used by folders`,
    width: "7rem",
    value: (host) => host.used_bytes,
    cell: (host) => formatSize(host.used_bytes),
  },
  {
    key: "public",
    title: msg`Access`,
    width: "8rem",
    value: (host) => Number(host.public),
    cell: (host) => (host.public ? <Trans>everyone</Trans> : <Trans>listed domains and projects</Trans>),
  },
  { key: "root", title: msg`Root`, shown: "chosen", width: "14rem", value: (host) => host.root },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    shown: "chosen",
    sortable: true,
    value: (host) => host.created_at,
    cell: (host) => <Instant at={host.created_at} />,
  },
];

export const HOST_FIELDS: CsvFields<StorageHost> = [
  ["id", (host) => host.id],
  ["name", (host) => host.name],
  ["backend", (host) => host.backend],
  ["root", (host) => host.root],
  ["state", (host) => host.state],
  ["active", (host) => host.active],
  ["public", (host) => host.public],
  ["total_bytes", (host) => host.total_bytes],
  ["free_bytes", (host) => host.free_bytes],
  ["folders", (host) => host.folders],
  ["used_bytes", (host) => host.used_bytes],
];
