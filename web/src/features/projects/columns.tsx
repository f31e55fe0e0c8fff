import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { WholeProject } from "@/api/types";
import { limitLoads } from "@/features/resources/load";
import { loadColumns } from "@/features/resources/load-columns";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

/** Allocations of a project and its limits. */
export const projectLoads = ({ used, ceilings }: WholeProject) => limitLoads(used, ceilings);

/** The keys of sortable columns are the server's sort keys. */
export const PROJECT_COLUMNS: readonly Column<WholeProject>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (project) => project.name,
    cell: (project) => (
      <Text size="sm" fw={500} truncate>
        {project.name}
      </Text>
    ),
  },
  { key: "domain", title: msg`Domain`, width: "9rem", value: (project) => project.domain.name },
  {
    key: "members",
    title: msg`Members`,
    width: "6.5rem",
    value: (project) => project.members,
  },
  {
    key: "admins",
    title: msg`Administrators`,
    value: (project) => project.admins.map(({ email }) => email).join(", "),
  },
  { key: "sessions", title: msg`Live sessions`, width: "8rem", value: (project) => project.live_sessions },
  ...loadColumns<WholeProject>(projectLoads),
  {
    key: "archived",
    title: msg`State`,
    width: "7rem",
    value: (project) => project.archived_at,
    cell: (project) => (
      <StateBadge look={project.archived_at ? "archived" : "ok"}>
        {project.archived_at ? <Trans>archived</Trans> : <Trans>in use</Trans>}
      </StateBadge>
    ),
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (project) => project.created_at,
    cell: (project) => <Instant at={project.created_at} />,
  },
];

export const PROJECT_FIELDS: CsvFields<WholeProject> = [
  ["id", (project) => project.id],
  ["name", (project) => project.name],
  ["domain", (project) => project.domain.name],
  ["description", (project) => project.description],
  ["members", (project) => project.members],
  ["admins", (project) => project.admins.map(({ email }) => email).join(";")],
  ["live_sessions", (project) => project.live_sessions],
  ["used", (project) => JSON.stringify(project.used)],
  ["ceilings", (project) => JSON.stringify(project.ceilings)],
  ["archived_at", (project) => project.archived_at],
  ["created_at", (project) => project.created_at],
];
