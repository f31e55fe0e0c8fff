import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { NodeDevices } from "@/api/types";
import { formatCores } from "@/ui/format";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { countsOf } from "./devices";

export const DEVICE_COLUMNS: readonly Column<NodeDevices>[] = [
  {
    key: "name",
    title: msg`Node`,
    shown: "always",
    sortable: true,
    value: (node) => node.name,
    cell: (node) => (
      <Anchor
        size="sm"
        renderRoot={(props) => <Link {...props} to="/resources" search={{ open: node.id }} />}
      >
        {node.name}
      </Anchor>
    ),
  },
  { key: "group", title: msg`Group`, width: "9rem", sortable: true, value: (node) => node.group.name },
  {
    key: "families",
    title: msg`Family`,
    width: "12rem",
    value: (node) => [...new Set(node.devices.map(({ family }) => family))].join(", "),
  },
  {
    key: "state",
    title: msg`State`,
    width: "8rem",
    value: (node) => (node.open ? "open" : "closed"),
    cell: (node) => (node.open ? <Trans>accepts sessions</Trans> : <Trans>closed</Trans>),
  },
  {
    key: "devices",
    title: msg`Devices`,
    width: "6rem",
    sortable: true,
    value: (node) => node.devices.length,
  },
  {
    key: "free",
    title: msg`Free`,
    width: "6rem",
    sortable: true,
    value: (node) => countsOf(node.devices).free,
  },
  {
    key: "broken",
    title: msg`In part`,
    width: "6rem",
    sortable: true,
    value: (node) => countsOf(node.devices).broken,
  },
  {
    key: "used",
    title: msg`Allocated`,
    width: "7rem",
    sortable: true,
    value: (node) => countsOf(node.devices).used,
    cell: (node) => formatCores(countsOf(node.devices).used),
  },
];

export const DEVICE_FIELDS: CsvFields<NodeDevices> = [
  ["id", (node) => node.id],
  ["node", (node) => node.name],
  ["group", (node) => node.group.name],
  ["open", (node) => node.open],
  ["devices", (node) => node.devices.length],
  ["free", (node) => countsOf(node.devices).free],
  ["in_part", (node) => countsOf(node.devices).broken],
  ["thousandths_used", (node) => countsOf(node.devices).used],
];
