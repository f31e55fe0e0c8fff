import { msg } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { Registry } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { RegistryScope } from "./RegistryScope";
import { REGISTRY_KINDS } from "./registry-words";

/** The keys of sortable columns are the server's sort keys. */
export const REGISTRY_COLUMNS: readonly Column<Registry>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (registry) => registry.name,
    cell: (registry) => (
      <Text size="sm" fw={500} truncate>
        {registry.name}
      </Text>
    ),
  },
  {
    key: "kind",
    title: msg`Kind`,
    width: "9rem",
    value: (registry) => REGISTRY_KINDS[registry.kind].title,
  },
  {
    key: "url",
    title: msg`Address`,
    width: "17rem",
    value: (registry) => registry.url,
  },
  {
    key: "namespace",
    title: msg`Namespace`,
    width: "10rem",
    value: (registry) => registry.namespace,
    cell: (registry) => registry.namespace || "–",
  },
  {
    key: "username",
    title: msg`Signs in as`,
    width: "10rem",
    value: (registry) => (registry.has_secret ? registry.username : ""),
    cell: (registry) => (registry.has_secret ? registry.username : "–"),
  },
  {
    key: "scope",
    title: msg`Scope`,
    width: "10rem",
    value: ({ project, domain }) => project?.name ?? domain?.name ?? "",
    cell: (registry) => <RegistryScope registry={registry} />,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    shown: "chosen",
    sortable: true,
    value: (registry) => registry.created_at,
    cell: (registry) => <Instant at={registry.created_at} />,
  },
];

export const REGISTRY_FIELDS: CsvFields<Registry> = [
  ["id", (registry) => registry.id],
  ["name", (registry) => registry.name],
  ["kind", (registry) => registry.kind],
  ["url", (registry) => registry.url],
  ["namespace", (registry) => registry.namespace],
  ["username", (registry) => registry.username],
  ["domain", (registry) => registry.domain?.name ?? ""],
  ["project", (registry) => registry.project?.name ?? ""],
];
