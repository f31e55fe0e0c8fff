import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Domain } from "@/api/types";
import { limitLoads } from "@/features/resources/load";
import { loadColumns } from "@/features/resources/load-columns";
import { Instant } from "@/ui/Instant";
import { ActiveBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

/** Allocations of a domain and its limits. */
export const domainLoads = ({ used, ceilings }: Domain) => limitLoads(used, ceilings);

/** The keys of sortable columns are the server's sort keys. */
export const DOMAIN_COLUMNS: readonly Column<Domain>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (domain) => domain.name,
    cell: (domain) => (
      <Text size="sm" fw={500} truncate>
        {domain.name}
      </Text>
    ),
  },
  {
    key: "active",
    title: msg`State`,
    width: "7rem",
    value: (domain) => Number(domain.active),
    cell: (domain) => (
      <ActiveBadge active={domain.active}>
        {domain.active ? <Trans>active</Trans> : <Trans>disabled</Trans>}
      </ActiveBadge>
    ),
  },
  { key: "users", title: msg`Users`, width: "6rem", value: (domain) => domain.users },
  { key: "projects", title: msg`Projects`, width: "6rem", value: (domain) => domain.projects },
  { key: "sessions", title: msg`Live sessions`, width: "8rem", value: (domain) => domain.live_sessions },
  {
    key: "admins",
    title: msg`Administrators`,
    value: (domain) => domain.admins.map(({ email }) => email).join(", "),
  },
  ...loadColumns<Domain>(domainLoads),
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (domain) => domain.created_at,
    cell: (domain) => <Instant at={domain.created_at} />,
  },
];

export const DOMAIN_FIELDS: CsvFields<Domain> = [
  ["id", (domain) => domain.id],
  ["name", (domain) => domain.name],
  ["description", (domain) => domain.description],
  ["active", (domain) => domain.active],
  ["users", (domain) => domain.users],
  ["projects", (domain) => domain.projects],
  ["live_sessions", (domain) => domain.live_sessions],
  ["admins", (domain) => domain.admins.map(({ email }) => email).join(";")],
  ["used", (domain) => JSON.stringify(domain.used)],
  ["ceilings", (domain) => JSON.stringify(domain.ceilings)],
  ["created_at", (domain) => domain.created_at],
];
