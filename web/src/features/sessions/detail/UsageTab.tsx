import { useLingui } from "@lingui/react/macro";
import { Chip, Group, Skeleton, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { SessionDetail } from "@/api/types";
import { useReadings } from "@/cache/usage";
import { sessionsUsageQuery } from "@/queries/sessions";
import { RangeBar } from "@/ui/chart/RangeBar";
import type { TimeRange } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DeviceEnergy } from "./DeviceEnergy";
import { compared, shownRange, type UsedContainer } from "./usage-measures";
import { useUsageCharts } from "./use-usage-charts";

/** Longer periods have points that are minutes apart. */
const LIVE_MINUTES = 360;
const NONE: UsedContainer[] = [];

/** Usage of a session's containers over time, against their allocation. A zoom loads the finest points of its period. */
export function UsageTab({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const [span, setSpan] = useState("60");
  const [zoom, setZoom] = useState<TimeRange | null>(null);
  const [chosen, setChosen] = useState<string[]>([]);
  const minutes = Number(span);
  const query = sessionsUsageQuery(session.id, zoom ? { from: zoom[0], to: zoom[1] } : { minutes });
  const usage = useQuery(query);
  useFollow(session.id, !zoom && minutes <= LIVE_MINUTES);
  const containers = usage.data?.containers ?? NONE;
  const times = useMemo(() => usage.data?.times.map((at) => Date.parse(at) / 1000) ?? [], [usage.data]);
  const range = useMemo(() => shownRange(times, minutes, zoom), [times, minutes, zoom]);
  const shown = useMemo(() => compared(containers, chosen), [containers, chosen]);
  const charts = useUsageCharts(shown, session);
  return (
    <Stack gap="md">
      <RangeBar
        spans={[
          { value: "60", label: t`1 hour` },
          { value: "360", label: t`6 hours` },
          { value: "1440", label: t`1 day` },
          { value: "10080", label: t`7 days` },
          { value: "43200", label: t`30 days` },
          { value: "525600", label: t`1 year` },
        ]}
        value={span}
        onChange={(next) => {
          setSpan(next);
          setZoom(null);
        }}
        zoomed={zoom !== null}
        onReset={() => setZoom(null)}
      />
      {containers.length > 1 && (
        <Chip.Group multiple value={chosen} onChange={setChosen}>
          <Group gap={6} role="group" aria-label={t`Compare containers`}>
            {containers.map(({ id, name }) => (
              <Chip key={id} value={name} size="xs">
                {name}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      )}
      {usage.isPending && <Skeleton height={200} />}
      {usage.isError && <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.isSuccess && charts.length === 0 && (
        <EmptyState
          title={t`No measurements in this time range`}
          text={t`Usage of a running session is measured every 10 seconds.`}
        />
      )}
      {charts.map(({ key, drawing }) => (
        <TimeChart key={key} group={session.id} onZoom={setZoom} {...drawing} {...{ times, range }} />
      ))}
      {usage.isSuccess && Object.keys(session.slots).some((slot) => !["cpu", "mem"].includes(slot)) && (
        <DeviceEnergy energy={usage.data.energy} />
      )}
    </Stack>
  );
}

/** Loads the series again when the session was measured. */
function useFollow(id: string, live: boolean): void {
  const client = useQueryClient();
  const readings = useReadings(id);
  const seen = useRef(readings);
  useEffect(() => {
    if (seen.current === readings) return;
    seen.current = readings;
    if (live) void client.invalidateQueries({ queryKey: ["sessions", "usage", id] });
  }, [readings, live, client, id]);
}
