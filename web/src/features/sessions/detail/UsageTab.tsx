import { useLingui } from "@lingui/react/macro";
import { Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { SessionDetail } from "@/api/types";
import { useReadings } from "@/cache/usage";
import { sessionsUsageQuery } from "@/queries/sessions";
import { RangeBar } from "@/ui/chart/RangeBar";
import type { Range } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { EmptyState } from "@/ui/EmptyState";
import { formatCores, formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useLiveSamples } from "./use-live-samples";

/** Usage of a session over time, against its allocation. */
export function UsageTab({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const [minutes, setMinutes] = useState("60");
  const [zoom, setZoom] = useState<Range | null>(null);
  const past = useQuery(sessionsUsageQuery(session.id, Number(minutes)));
  const samples = useLiveSamples(past.data, useReadings(session.id), Number(minutes));
  const times = useMemo(() => samples.map((sample) => Date.parse(sample.at) / 1000), [samples]);
  const end = times.at(-1) ?? 0;
  const range = useMemo<Range>(() => zoom ?? [end - Number(minutes) * 60, end], [zoom, end, minutes]);
  const [cores, mem] = [session.slots.cpu ?? 0, session.slots.mem ?? 0];
  const charts = useMemo(() => {
    const allocated = (amount: number) => ({
      key: "allocated",
      label: t`Allocated`,
      color: "--carrel-ink-soft",
      values: samples.map(() => amount),
      dashed: true,
    });
    const used = (color: string, values: number[]) => ({ key: "used", label: t`Used`, color, values });
    return {
      cpu: [
        used(
          "--carrel-cpu",
          samples.map((s) => s.cpu_millis),
        ),
        allocated(cores),
      ],
      mem: [
        used(
          "--carrel-mem",
          samples.map((s) => s.mem_bytes),
        ),
        allocated(mem),
      ],
    };
  }, [samples, cores, mem, t]);
  return (
    <Stack gap="md">
      <RangeBar
        spans={[
          { value: "15", label: t`15 minutes` },
          { value: "60", label: t`1 hour` },
          { value: "360", label: t`6 hours` },
          { value: "1440", label: t`1 day` },
        ]}
        value={minutes}
        onChange={(span) => {
          setMinutes(span);
          setZoom(null);
        }}
        zoomed={zoom !== null}
        onReset={() => setZoom(null)}
      />
      {past.isPending && <Skeleton height={200} />}
      {past.isError && <ProblemAlert problem={past.error} onRetry={() => void past.refetch()} />}
      {past.isSuccess && samples.length === 0 && (
        <EmptyState
          title={t`No measurements in this time range`}
          text={t`Usage of a running session is measured every 5 seconds.`}
        />
      )}
      {samples.length > 0 && (
        <>
          <TimeChart
            title={t`CPU cores`}
            lines={charts.cpu}
            format={formatCores}
            group={session.id}
            onZoom={setZoom}
            {...{ times, range }}
          />
          <TimeChart
            title={t`Memory`}
            lines={charts.mem}
            format={formatSize}
            scale="binary"
            group={session.id}
            onZoom={setZoom}
            {...{ times, range }}
          />
        </>
      )}
    </Stack>
  );
}
