import { msg } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { hasEnded } from "@/api/session-states";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { AccountName } from "@/ui/AccountName";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { Age, Duration } from "./Age";
import { rowResult, rowState } from "./arrays";
import { NameCell } from "./NameCell";
import { SessionBadge } from "./SessionBadge";
import { SessionKindName } from "./SessionKindName";
import { SlotsText } from "./SlotsText";
import { AcceleratorSparkline, UsageSparkline } from "./UsageSparkline";
import { WhyCell } from "./WhyCell";

const clipped = (text: ReactNode, title = String(text)) => (
  <span title={title} data-clip>
    {text}
  </span>
);

/** All columns of the list, in display order. */
const COLUMNS: readonly Column<Session>[] = [
  {
    key: "state",
    title: msg`State`,
    width: "8rem",
    sortable: true,
    value: (session) => session.state,
    cell: (session) => <SessionBadge state={rowState(session)} result={rowResult(session)} />,
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
    key: "project",
    title: msg`Project`,
    width: "6rem",
    sortable: true,
    value: (session) => session.project.name,
    cell: (session) => clipped(session.project.name),
  },
  {
    key: "owner",
    title: msg`Owner`,
    width: "9rem",
    sortable: true,
    value: (session) => session.owner.email,
    cell: ({ owner }) => clipped(<AccountName email={owner.email} />, owner.email),
  },
  {
    key: "image",
    title: msg`Image`,
    width: "6.5rem",
    sortable: true,
    value: (session) => session.image_name ?? session.image,
    cell: (session) => clipped(session.image_name ?? session.image, session.image),
  },
  {
    key: "slots",
    title: msg`Slots`,
    width: "8.75rem",
    sortable: true,
    value: ({ slots }) => (slots.cpu ?? 0) * 2 ** 20 + (slots.mem ?? 0) / 2 ** 30,
    cell: (session) => <SlotsText slots={session.slots} />,
  },
  {
    key: "cpu",
    title: msg`CPU`,
    width: "6.75rem",
    value: () => null,
    cell: (session) => <UsageSparkline session={session} slot="cpu" />,
  },
  {
    key: "mem",
    title: msg`Memory`,
    width: "6.75rem",
    value: () => null,
    cell: (session) => <UsageSparkline session={session} slot="mem" />,
  },
  {
    key: "accelerator",
    title: msg`Accelerator`,
    width: "6.75rem",
    value: () => null,
    cell: (session) => <AcceleratorSparkline session={session} />,
  },
  {
    key: "age",
    title: msg`Age`,
    width: "5rem",
    sortable: true,
    value: (session) => -Date.parse(session.created_at),
    cell: (session) => <Age since={session.created_at} until={session.ended_at} />,
  },
  {
    key: "duration",
    title: msg`Duration`,
    width: "6rem",
    sortable: true,
    value: ({ started_at: start, ended_at: end }) =>
      start ? (end ? Date.parse(end) : Date.now()) - Date.parse(start) : null,
    cell: (session) => <Duration session={session} />,
  },
  {
    key: "ended",
    title: msg`Ended`,
    width: "11.5rem",
    sortable: true,
    value: (session) => (session.ended_at ? Date.parse(session.ended_at) : null),
    cell: (session) => session.ended_at && <Instant at={session.ended_at} />,
  },
  {
    key: "reason",
    title: msg`Reason`,
    value: (session) => session.reason,
    cell: (session) => <WhyCell session={session} />,
  },
  {
    key: "kind",
    title: msg`Type`,
    width: "6rem",
    value: (session) => session.kind,
    cell: (session) => <SessionKindName kind={session.kind} />,
  },
  {
    key: "group",
    title: msg`Resource group`,
    width: "8rem",
    value: (session) => session.group.name,
  },
  {
    key: "priority",
    title: msg`Priority`,
    width: "6rem",
    sortable: true,
    value: (session) => session.priority,
  },
  { key: "node", title: msg`Node`, width: "6.5rem", sortable: true, value: (session) => session.node },
  {
    key: "created",
    title: msg`Created`,
    width: "11.5rem",
    sortable: true,
    value: (session) => Date.parse(session.created_at),
    cell: (session) => <Instant at={session.created_at} />,
  },
];

const LIVE = ["state", "project", "image", "slots", "cpu", "mem", "age", "reason"];
const ENDED = ["state", "project", "image", "slots", "duration", "ended", "reason"];

/** A view of the list with the columns that are of use in it; its name is where the choice of columns is stored. */
export interface SessionsView {
  name: string;
  columns: readonly Column<Session>[];
}

const view = (name: string, usual: string[]): SessionsView => ({
  name: `sessions.${name}`,
  columns: COLUMNS.map((column) =>
    column.shown === "always" || usual.includes(column.key) ? column : { ...column, shown: "chosen" },
  ),
});

const notImage = (key: string) => key !== "image";

/** The views by whether they are of live sessions only, and of other owners too. */
const VIEWS = {
  live: { own: view("live", LIVE), everyone: view("live.everyone", [...LIVE.filter(notImage), "owner"]) },
  ended: {
    own: view("ended", ENDED),
    everyone: view("ended.everyone", [...ENDED.filter(notImage), "owner"]),
  },
};

export function sessionsView(state: SessionFilter["state"], owner: string): SessionsView {
  const live = state === "live" || (state !== "all" && state !== "ended" && !hasEnded(state));
  return VIEWS[live ? "live" : "ended"][owner === "me" ? "own" : "everyone"];
}

/** The columns of an export: more than the list shows, in base units. */
export const SESSION_FIELDS: CsvFields<Session> = [
  ["id", (session) => session.id],
  ["name", (session) => session.name],
  ["state", (session) => session.state],
  ["kind", (session) => session.kind],
  ["result", (session) => session.result],
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
