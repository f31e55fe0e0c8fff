import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Schedule } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { RunState } from "./RunState";
import { useCronWords } from "./use-cron-words";

function CronCell({ cron }: { cron: string }) {
  const words = useCronWords()(cron);
  return (
    <Text size="sm" truncate title={cron}>
      {words}
    </Text>
  );
}

function NextCell({ schedule }: { schedule: Schedule }) {
  const [next] = schedule.next_times;
  if (!schedule.active)
    return (
      <StateBadge look="off" state="paused">
        <Trans>Paused</Trans>
      </StateBadge>
    );
  return next ? <Instant at={next} /> : <Trans>never</Trans>;
}

const OWNER: Column<Schedule> = {
  key: "owner",
  title: msg`Owner`,
  width: "13rem",
  value: (schedule) => schedule.owner.email,
};

/** The keys of sortable columns are the server's sort keys. */
const COLUMNS: readonly Column<Schedule>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (schedule) => schedule.name,
    cell: (schedule) => (
      <Text size="sm" fw={500} truncate>
        {schedule.name}
      </Text>
    ),
  },
  {
    key: "cron",
    title: msg`Repeats`,
    value: (schedule) => schedule.cron,
    cell: (schedule) => <CronCell cron={schedule.cron} />,
  },
  { key: "timezone", title: msg`Time zone`, width: "10rem", value: (schedule) => schedule.timezone },
  {
    key: "next",
    title: msg`Next run`,
    width: "13rem",
    value: (schedule) => schedule.next_times[0] ?? null,
    cell: (schedule) => <NextCell schedule={schedule} />,
  },
  {
    key: "last",
    title: msg`Last run`,
    width: "10rem",
    value: (schedule) => schedule.last?.result ?? schedule.last?.outcome ?? null,
    cell: (schedule) => (schedule.last ? <RunState run={schedule.last} /> : "–"),
  },
  {
    key: "project",
    title: msg`Project`,
    width: "9rem",
    shown: "chosen",
    value: (schedule) => schedule.project.name,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (schedule) => schedule.created_at,
    cell: (schedule) => <Instant at={schedule.created_at} />,
  },
];

/** The columns of a list of the user's own schedules, or of everybody's. */
export const scheduleColumns = (everyone: boolean): readonly Column<Schedule>[] =>
  everyone ? EVERYONE : COLUMNS;

const EVERYONE = [...COLUMNS.slice(0, 1), OWNER, ...COLUMNS.slice(1)];

export const SCHEDULE_FIELDS: CsvFields<Schedule> = [
  ["id", (schedule) => schedule.id],
  ["name", (schedule) => schedule.name],
  ["owner", (schedule) => schedule.owner.email],
  ["project", (schedule) => schedule.project.name],
  ["cron", (schedule) => schedule.cron],
  ["timezone", (schedule) => schedule.timezone],
  ["missed", (schedule) => schedule.missed],
  ["overlap", (schedule) => schedule.overlap],
  ["active", (schedule) => String(schedule.active)],
  ["next", (schedule) => schedule.next_times[0]],
  ["last", (schedule) => schedule.last?.planned_at],
  ["last_outcome", (schedule) => schedule.last?.outcome],
  ["last_result", (schedule) => schedule.last?.result],
  ["created_at", (schedule) => schedule.created_at],
];
