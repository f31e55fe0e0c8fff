import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Queued } from "@/api/types";
import { Age } from "@/features/sessions/Age";
import { SlotsText } from "@/features/sessions/SlotsText";
import { useReason } from "@/features/sessions/why/use-reason";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { PriorityCell } from "./PriorityCell";

/** The queue also contains sessions whose owner the user may not see. */
function Name({ queued }: { queued: Queued }) {
  if (!queued.session) {
    return (
      <Text size="sm" c="dimmed" span>
        <Trans>another user's</Trans>
      </Text>
    );
  }
  return (
    <Link
      to="/sessions"
      search={{ session: queued.session, owner: "all" }}
      style={{ color: "var(--carrel-accent)" }}
    >
      {queued.name}
    </Link>
  );
}

function Reason({ queued }: { queued: Queued }) {
  const text = useReason()(queued.reason);
  return <span style={{ whiteSpace: "normal" }}>{text}</span>;
}

export const QUEUE_COLUMNS: readonly Column<Queued>[] = [
  {
    key: "position",
    title: msg`Position`,
    width: "4.5rem",
    sortable: true,
    value: (queued) => queued.position,
  },
  {
    key: "name",
    title: msg`Name`,
    width: "9rem",
    shown: "always",
    sortable: true,
    value: (queued) => queued.name,
    cell: (queued) => <Name queued={queued} />,
  },
  {
    key: "owner",
    title: msg`Owner`,
    width: "10.5rem",
    sortable: true,
    value: (queued) => queued.owner?.email ?? null,
  },
  {
    key: "project",
    title: msg`Project`,
    width: "6rem",
    sortable: true,
    value: (queued) => queued.project?.name ?? null,
  },
  {
    key: "slots",
    title: msg`Slots`,
    width: "9.5rem",
    value: ({ slots }) => slots.cpu ?? 0,
    cell: (queued) => <SlotsText slots={queued.slots} />,
  },
  {
    key: "priority",
    title: msg`Priority`,
    width: "6rem",
    sortable: true,
    value: (queued) => queued.priority,
    cell: (queued) => <PriorityCell queued={queued} />,
  },
  {
    key: "waits",
    title: msg`Pending for`,
    width: "6.5rem",
    sortable: true,
    value: (queued) => -Date.parse(queued.waits_since),
    cell: (queued) => <Age since={queued.waits_since} />,
  },
  {
    key: "since",
    title: msg`Pending since`,
    width: "11rem",
    shown: "chosen",
    value: (queued) => Date.parse(queued.waits_since),
    cell: (queued) => <Instant at={queued.waits_since} />,
  },
  {
    key: "expected",
    title: msg`Estimated start`,
    width: "11rem",
    sortable: true,
    value: ({ expected_start }) => expected_start && Date.parse(expected_start),
    cell: ({ expected_start }) => expected_start && <Instant at={expected_start} />,
  },
  {
    key: "reason",
    title: msg`Reason`,
    value: (queued) => queued.reason,
    cell: (queued) => <Reason queued={queued} />,
  },
];

export const QUEUE_FIELDS: CsvFields<Queued> = [
  ["position", (queued) => queued.position],
  ["session", (queued) => queued.session],
  ["name", (queued) => queued.name],
  ["owner", (queued) => queued.owner?.email],
  ["project", (queued) => queued.project?.name],
  ["cpu_millis", (queued) => queued.slots.cpu],
  ["mem_bytes", (queued) => queued.slots.mem],
  ["priority", (queued) => queued.priority],
  ["waits_since", (queued) => queued.waits_since],
  ["expected_start", (queued) => queued.expected_start],
  ["cause", (queued) => queued.cause],
  ["reason", (queued) => queued.reason],
];
