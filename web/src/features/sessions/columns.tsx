import { msg } from "@lingui/core/macro";
import type { Session } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { Age } from "./Age";
import { NameCell } from "./NameCell";
import { SlotsText } from "./SlotsText";
import { StateBadge } from "./StateBadge";
import { UsageSparkline } from "./UsageSparkline";

/** The columns of the list, in display order. */
export const SESSION_COLUMNS: readonly Column<Session>[] = [
  {
    key: "state",
    title: msg`State`,
    width: "8.25rem",
    sortable: true,
    value: (session) => session.state,
    cell: (session) => <StateBadge state={session.state} />,
  },
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (session) => session.name,
    cell: (session) => <NameCell session={session} />,
  },
  {
    key: "image",
    title: msg`Image`,
    width: "7.5rem",
    sortable: true,
    value: (session) => session.image_name ?? session.image,
    cell: (session) => (
      <span title={session.image} data-clip>
        {session.image_name ?? session.image}
      </span>
    ),
  },
  {
    key: "slots",
    title: msg`Slots`,
    width: "9.75rem",
    sortable: true,
    value: ({ slots }) => (slots.cpu ?? 0) * 2 ** 20 + (slots.mem ?? 0) / 2 ** 30,
    cell: (session) => <SlotsText slots={session.slots} />,
  },
  {
    key: "cpu",
    title: msg`CPU`,
    width: "7.75rem",
    value: () => null,
    cell: (session) => <UsageSparkline session={session} slot="cpu" />,
  },
  {
    key: "mem",
    title: msg`Memory`,
    width: "7.75rem",
    value: () => null,
    cell: (session) => <UsageSparkline session={session} slot="mem" />,
  },
  {
    key: "age",
    title: msg`Age`,
    width: "6rem",
    sortable: true,
    value: (session) => -Date.parse(session.created_at),
    cell: (session) => <Age since={session.created_at} />,
  },
  {
    key: "project",
    title: msg`Project`,
    width: "6.5rem",
    shown: "chosen",
    value: (session) => session.project.name,
  },
  {
    key: "owner",
    title: msg`Owner`,
    width: "10rem",
    shown: "chosen",
    value: (session) => session.owner.email,
  },
  {
    key: "group",
    title: msg`Resource group`,
    width: "8rem",
    shown: "chosen",
    value: (session) => session.group.name,
  },
  {
    key: "priority",
    title: msg`Priority`,
    width: "6rem",
    shown: "chosen",
    sortable: true,
    value: (session) => session.priority,
  },
  { key: "node", title: msg`Node`, width: "6.5rem", shown: "chosen", value: (session) => session.node },
  {
    key: "created",
    title: msg`Created`,
    width: "11rem",
    shown: "chosen",
    value: (session) => Date.parse(session.created_at),
    cell: (session) => <Instant at={session.created_at} />,
  },
];

/** The columns of an export: more than the list shows, in base units. */
export const SESSION_FIELDS: CsvFields<Session> = [
  ["id", (session) => session.id],
  ["name", (session) => session.name],
  ["state", (session) => session.state],
  ["reason", (session) => session.reason],
  ["image", (session) => session.image],
  ["cpu_millis", (session) => session.slots.cpu],
  ["mem_bytes", (session) => session.slots.mem],
  ["project", (session) => session.project.name],
  ["owner", (session) => session.owner.email],
  ["group", (session) => session.group.name],
  ["priority", (session) => session.priority],
  ["node", (session) => session.node],
  ["created_at", (session) => session.created_at],
  ["started_at", (session) => session.started_at],
  ["ended_at", (session) => session.ended_at],
];
