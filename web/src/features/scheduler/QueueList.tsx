import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Queued } from "@/api/types";
import { schedulerQueueQuery } from "@/queries/scheduler";
import type { SchedulerSearch } from "@/routing/search";
import { EmptyState } from "@/ui/EmptyState";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { useRows } from "@/ui/table/use-rows";
import { QUEUE_COLUMNS, QUEUE_FIELDS } from "./columns";
import { useOrderText } from "./use-order-text";

interface Props {
  group: string;
  search: SchedulerSearch;
  /** The group and view selectors. */
  choices: ReactNode;
  onChange: (part: Partial<SchedulerSearch>) => void;
}

const idOf = (queued: Queued) => queued.session ?? `place-${queued.position}`;
const look = (queued: Queued) => ({ name: queued.name ?? `${queued.position}` });

/** The pending sessions of a group, in scheduling order. */
export function QueueList({ group, search, choices, onChange }: Props) {
  const { t } = useLingui();
  const queue = useInfiniteQuery(schedulerQueueQuery(group));
  const orderText = useOrderText();
  const [visible, setVisible] = useColumnChoice("queue", QUEUE_COLUMNS);
  const { rows: items, more } = useRows(queue);
  const last = queue.data?.pages.at(-1);
  return (
    <>
      <ListToolbar
        title={t`Scheduler`}
        tools={
          <>
            <ColumnMenu columns={QUEUE_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name={`queue-${group}`} fields={QUEUE_FIELDS} all={() => items} />
          </>
        }
      >
        {choices}
      </ListToolbar>
      {last && (
        <Text size="xs" c="dimmed" px="1rem" pb="xs">
          <Trans>Highest priority first, then {orderText(last.scheduler)}</Trans>{" "}
          {last.forecast_complete ? (
            <Trans>
              The start is estimated as if no new sessions arrive and all sessions run to their time limits.
            </Trans>
          ) : (
            <Trans>The queue is too long to estimate when all of it starts.</Trans>
          )}
        </Text>
      )}
      <DataTable
        label={t`Queue of ${group}`}
        rows={items}
        rowId={idOf}
        columns={QUEUE_COLUMNS}
        visible={visible}
        loading={queue.isPending}
        problem={queue.error}
        onRetry={() => void queue.refetch()}
        sorting={search}
        onSort={onChange}
        onNearEnd={more}
        look={look}
        minWidth="64rem"
        empty={
          <EmptyState
            title={t`The queue of this resource group is empty`}
            text={t`New sessions start immediately if resources are free.`}
          />
        }
      />
      {last && (
        <ListFoot
          count={items.length}
          counted={<Plural value={last.length} one="# pending session" other="# pending sessions" />}
          more={queue.hasNextPage}
          loading={queue.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
    </>
  );
}
