import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { HostShares } from "./HostShares";
import { hostShares, loadsOf } from "./load";
import { loadColumns } from "./load-columns";
import { NodeBadge } from "./NodeBadge";
import { labelTexts } from "./node-labels";

const machine = (key: keyof Node["machine"], title: MessageDescriptor): Column<Node> => ({
  key,
  title,
  width: "10rem",
  shown: "chosen",
  value: (node) => node.machine[key],
});

const MACHINE_COLUMNS = [
  machine("pool", msg`Pool`),
  machine("zone", msg`Zone`),
  machine("instance_type", msg`Instance type`),
  machine("capacity_type", msg`Capacity type`),
  machine("nvidia_driver", msg`NVIDIA driver`),
  machine("cuda", msg`CUDA`),
];

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
  {
    key: "host",
    title: msg`Host usage`,
    width: "12.5rem",
    value: (node) => hostShares(node)?.cpu ?? null,
    cell: (node) => <HostShares node={node} />,
  },
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
  ...MACHINE_COLUMNS,
  {
    key: "labels",
    title: msg`Labels`,
    width: "18rem",
    shown: "chosen",
    value: (node) => labelTexts(node.labels).join(", "),
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
  ["host_cpu_millis", (node) => node.host?.cpu ?? null],
  ["host_mem_bytes", (node) => node.host?.mem ?? null],
  ["host_received_bytes_per_second", (node) => node.host?.received ?? null],
  ["host_sent_bytes_per_second", (node) => node.host?.sent ?? null],
  ["host_read_bytes_per_second", (node) => node.host?.read ?? null],
  ["host_written_bytes_per_second", (node) => node.host?.written ?? null],
  ["host_disk_used_bytes", (node) => node.host?.disk_used ?? null],
  ["host_disk_size_bytes", (node) => node.host?.disk_size ?? null],
  ["live_sessions", (node) => node.live_sessions],
  ["seen_at", (node) => node.seen_at],
  ["engine", (node) => node.engine.name],
  ["engine_version", (node) => node.engine_version],
  ["architecture", (node) => node.architecture],
  ["pool", (node) => node.machine.pool],
  ["zone", (node) => node.machine.zone],
  ["instance_type", (node) => node.machine.instance_type],
  ["capacity_type", (node) => node.machine.capacity_type],
  ["nvidia_driver", (node) => node.machine.nvidia_driver],
  ["cuda", (node) => node.machine.cuda],
  ["closed", (node) => node.closed],
  ["labels", (node) => JSON.stringify(node.labels)],
];
