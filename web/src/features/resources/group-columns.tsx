import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Group } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { ActiveBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { ORDERS } from "./group-words";
import { groupLoads } from "./load";
import { loadColumns } from "./load-columns";

/** The keys of sortable columns are the server's sort keys. */
export const GROUP_COLUMNS: readonly Column<Group>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (group) => group.name,
    cell: (group) => (
      <Text size="sm" fw={500} truncate>
        {group.name}
      </Text>
    ),
  },
  {
    key: "active",
    title: msg`State`,
    width: "7rem",
    value: (group) => Number(group.active),
    cell: (group) => (
      <ActiveBadge active={group.active}>
        {group.active ? <Trans>active</Trans> : <Trans>disabled</Trans>}
      </ActiveBadge>
    ),
  },
  {
    key: "public",
    title: msg`Access`,
    width: "9rem",
    value: (group) => Number(group.public),
    cell: (group) => (group.public ? <Trans>everyone</Trans> : <NamedOnly group={group} />),
  },
  {
    key: "nodes",
    title: msg`Nodes`,
    width: "7rem",
    value: (group) => group.nodes,
    cell: (group) =>
      group.ready_nodes === group.nodes ? (
        group.nodes
      ) : (
        <Trans>
          {group.ready_nodes} of {group.nodes} schedulable
        </Trans>
      ),
  },
  ...loadColumns<Group>(groupLoads),
  {
    key: "sessions",
    title: msg`Sessions`,
    width: "9rem",
    value: (group) => group.live_sessions,
    cell: (group) =>
      group.waiting_sessions === 0 ? (
        group.live_sessions
      ) : (
        <Trans>
          {group.live_sessions}, {group.waiting_sessions} pending
        </Trans>
      ),
  },
  {
    key: "scheduler",
    title: msg`Order`,
    width: "12rem",
    value: (group) => group.scheduler,
    cell: (group) => <OrderText order={group.scheduler} />,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (group) => group.created_at,
    cell: (group) => <Instant at={group.created_at} />,
  },
];

function OrderText({ order }: { order: Group["scheduler"] }) {
  const { i18n } = useLingui();
  return i18n._(ORDERS[order].title);
}

function NamedOnly({ group }: { group: Group }) {
  // Users of a group do not see its access list.
  if (!group.access) return <Trans>listed domains, projects and users</Trans>;
  const { domains = [], projects = [], users = [] } = group.access;
  const count = domains.length + projects.length + users.length;
  return count === 0 ? <Trans>none</Trans> : <Trans>{count} listed</Trans>;
}

export const GROUP_FIELDS: CsvFields<Group> = [
  ["id", (group) => group.id],
  ["name", (group) => group.name],
  ["description", (group) => group.description],
  ["active", (group) => group.active],
  ["public", (group) => group.public],
  ["session_kinds", (group) => group.session_kinds.join(";")],
  ["scheduler", (group) => group.scheduler],
  ["placement", (group) => group.placement],
  ["nodes", (group) => group.nodes],
  ["ready_nodes", (group) => group.ready_nodes],
  ["live_sessions", (group) => group.live_sessions],
  ["waiting_sessions", (group) => group.waiting_sessions],
  ["capacity", (group) => JSON.stringify(group.capacity)],
  ["used", (group) => JSON.stringify(group.used)],
  ["created_at", (group) => group.created_at],
];
