import { msg } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Environment } from "@/api/types";
import { AccountName } from "@/ui/AccountName";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { VersionBadge } from "./VersionBadge";

const ownerOf = ({ owner, project }: Environment) => owner?.email ?? project?.name ?? "";

export const ENVIRONMENT_COLUMNS: readonly Column<Environment>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (one) => one.name,
    cell: (one) => (
      <>
        <Text size="sm" fw={500} truncate>
          {one.name}
        </Text>
        {one.description && (
          <Text size="xs" c="dimmed" truncate title={one.description}>
            {one.description}
          </Text>
        )}
      </>
    ),
  },
  {
    key: "state",
    title: msg`Latest version`,
    width: "10rem",
    value: (one) => one.versions[0]?.name ?? "",
    cell: ({ versions: [latest] }) => latest && <VersionBadge version={latest} named />,
  },
  {
    key: "versions",
    title: msg`Versions`,
    width: "6rem",
    shown: "chosen",
    value: (one) => one.versions.length,
  },
  {
    key: "size",
    title: msg`Size`,
    width: "6rem",
    value: (one) => one.added_bytes,
    cell: (one) => formatSize(one.added_bytes),
  },
  {
    key: "base",
    title: msg`Base image`,
    width: "9rem",
    value: (one) => one.versions[0]?.base ?? "",
  },
  {
    key: "owner",
    title: msg`Owner`,
    width: "12rem",
    value: ownerOf,
    cell: ({ owner, project }) =>
      owner ? <AccountName email={owner.email} /> : <Trans>Project {project?.name ?? ""}</Trans>,
  },
  {
    key: "shared",
    title: msg`Shared with`,
    width: "8rem",
    value: (one) => one.shared_with,
    cell: ({ shared_with }) =>
      shared_with ? <Plural value={shared_with} one="# recipient" other="# recipients" /> : "–",
  },
  {
    key: "updated_at",
    title: msg`Changed`,
    width: "12rem",
    sortable: true,
    value: (one) => one.updated_at,
    cell: (one) => <Instant at={one.updated_at} />,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (one) => one.created_at,
    cell: (one) => <Instant at={one.created_at} />,
  },
];

export const ENVIRONMENT_FIELDS: CsvFields<Environment> = [
  ["id", (one) => one.id],
  ["name", (one) => one.name],
  ["description", (one) => one.description],
  ["image", (one) => one.image],
  ["default_version", (one) => one.default_version ?? ""],
  ["versions", (one) => one.versions.map(({ name }) => name).join(" ")],
  ["added_bytes", (one) => String(one.added_bytes)],
  ["owner", ownerOf],
  ["updated_at", (one) => one.updated_at],
];
