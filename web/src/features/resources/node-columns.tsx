import { msg } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { loadsOf } from "./load";
import { loadColumns } from "./load-columns";
import { NodeBadge } from "./NodeBadge";

/** The keys of sortable columns are the server's sort keys. */
export const NODE_COLUMNS: readonly Column<Node>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (node) => node.name,
    cell: (node) => (
      <Text size="sm" fw={500} truncate>
        {node.name}
      </Text>
    ),
  },
  { key: "group", title: msg`Group`, width: "9rem", value: (node) => node.group.name },
  {
    key: "state",
    title: msg`State`,
    width: "9rem",
    value: (node) => node.state,
    cell: (node) => <NodeBadge node={node} />,
  },
  ...loadColumns<Node>(loadsOf),
  { key: "sessions", title: msg`Sessions`, width: "6rem", value: (node) => node.live_sessions },
  {
    key: "seen_at",
    title: msg`Last heartbeat`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (node) => node.seen_at,
    cell: (node) => <Instant at={node.seen_at} />,
  },
  { key: "engine", title: msg`Engine`, width: "9rem", value: (node) => node.engine.name },
  {
    key: "architecture",
    title: msg`Architecture`,
    width: "8rem",
    shown: "chosen",
    value: (node) => node.architecture,
  },
];

export const NODE_FIELDS: CsvFields<Node> = [
  ["id", (node) => node.id],
  ["name", (node) => node.name],
  ["group", (node) => node.group.name],
  ["state", (node) => node.state],
  ["cordoned", (node) => node.cordoned],
  ["draining", (node) => node.draining],
  ["cpu_millis_used", (node) => node.used.cpu ?? 0],
  ["cpu_millis_offered", (node) => node.offered.cpu ?? 0],
  ["mem_bytes_used", (node) => node.used.mem ?? 0],
  ["mem_bytes_offered", (node) => node.offered.mem ?? 0],
  ["used", (node) => JSON.stringify(node.used)],
  ["offered", (node) => JSON.stringify(node.offered)],
  ["live_sessions", (node) => node.live_sessions],
  ["seen_at", (node) => node.seen_at],
  ["engine", (node) => node.engine.name],
  ["engine_version", (node) => node.engine_version],
  ["architecture", (node) => node.architecture],
];
