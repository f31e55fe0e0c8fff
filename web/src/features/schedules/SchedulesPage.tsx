import { Plural, useLingui } from "@lingui/react/macro";
import { Group, Select } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconPlayerTrackNext, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue } from "react";
import type { Schedule } from "@/api/types";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { everySchedule, type ScheduleFilter, schedulesListQuery } from "@/queries/schedules";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { useLast } from "@/ui/use-last";
import { SCHEDULE_FIELDS, scheduleColumns } from "./columns";
import { ScheduleDrawer } from "./ScheduleDrawer";
import { type ScheduleActs, useScheduleActs } from "./use-schedule-acts";

const ScheduleFormDrawer = part(() => import("./ScheduleForm").then((m) => m.ScheduleFormDrawer));

const route = getRouteApi("/shell/sessions/recurring");
const idOf = (schedule: Schedule) => schedule.id;
const look = (schedule: Schedule) => ({ name: schedule.name, ended: !schedule.active });
const NEW = "new";

/** Schedules of recurring sessions. The URL alone holds the view state. */
export function SchedulesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const me = useMe();
  const everyone = search.owner === "all";
  const columns = scheduleColumns(everyone);
  const filter: ScheduleFilter = {
    q: useDeferredValue(search.q),
    owner: search.owner,
    sort: serverSort(columns, search),
  };
  const list = useInfiniteQuery(schedulesListQuery(filter));
  const { rows, more } = useRows(list);
  const shown = useLast(search.open);
  const edited = useLast(rows.find(({ id }) => id === search.form));
  const onRemoved = useCallback(() => change({ open: undefined, form: undefined }), [change]);
  const acts = useScheduleActs(onRemoved);
  const open = useCallback((schedule: Schedule) => change({ open: schedule.id }), [change]);
  const closeForm = () => change({ form: undefined });
  const saved = (schedule: Schedule) => change({ form: undefined, open: schedule.id });
  const tools = useCallback((schedule: Schedule) => <Tools schedule={schedule} acts={acts} />, [acts]);
  return (
    <ListPage
      title={t`Recurring runs`}
      name="schedules"
      search={search}
      onChange={change}
      list={list}
      onMore={more}
      rows={rows}
      rowId={idOf}
      columns={columns}
      look={look}
      onOpen={open}
      tools={tools}
      toolsWidth="7.25rem"
      minWidth="62rem"
      file={{ name: "recurring-runs", fields: SCHEDULE_FIELDS, all: () => everySchedule(filter) }}
      make={{ label: t`New recurring run`, refusal: null, onClick: () => change({ form: NEW }) }}
      filters={
        mayBeyondOwn(me, "schedule.read") && (
          <Select
            size="xs"
            w={150}
            aria-label={t`Owner`}
            allowDeselect={false}
            data={[
              { value: "me", label: t`My runs` },
              { value: "all", label: t`Everyone's` },
            ]}
            value={search.owner ?? "me"}
            onChange={(owner) => change({ owner: owner === "all" ? "all" : undefined })}
          />
        )
      }
      counted={<Plural value={rows.length} one="# recurring run" other="# recurring runs" />}
      empty={{
        title: search.q ? t`No recurring runs match the filter` : t`No recurring runs yet`,
        text: t`A recurring run starts a session at set times: every hour, on weekdays, once a month.`,
      }}
    >
      <Suspense fallback={null}>
        <ScheduleFormDrawer
          opened={search.form === NEW}
          schedule={undefined}
          onClose={closeForm}
          onSaved={saved}
        />
        {edited && (
          <ScheduleFormDrawer
            opened={search.form === edited.id}
            schedule={edited}
            onClose={closeForm}
            onSaved={saved}
          />
        )}
      </Suspense>
      {shown && (
        <ScheduleDrawer
          opened={search.open !== undefined}
          id={shown}
          acts={acts}
          onEdit={(schedule) => change({ form: schedule.id })}
          onClose={() => change({ open: undefined })}
        />
      )}
    </ListPage>
  );
}

function Tools({ schedule, acts }: { schedule: Schedule; acts: ScheduleActs }) {
  const { t } = useLingui();
  const { name, active } = schedule;
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Run now`}
        row={name}
        icon={IconPlayerTrackNext}
        refusal={acts.whyNotRun(schedule)}
        onClick={() => void acts.run(schedule)}
      />
      <RowTool
        label={active ? t`Pause` : t`Resume`}
        row={name}
        icon={active ? IconPlayerPause : IconPlayerPlay}
        refusal={acts.whyNotPause(schedule)}
        onClick={() => void acts.setActive(schedule, !active)}
      />
      <RowTool
        label={t`Delete`}
        row={name}
        icon={IconTrash}
        refusal={acts.whyNotRemove(schedule)}
        onClick={() => acts.remove(schedule)}
      />
    </Group>
  );
}
