import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { SessionDetail } from "@/api/types";
import { useReadings } from "@/cache/usage";
import { sessionsUsageQuery } from "@/queries/sessions";
import { EmptyState } from "@/ui/EmptyState";
import { formatCores, formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { UsageChart } from "./UsageChart";
import { UsageFigures } from "./UsageFigures";
import { useLiveSamples } from "./use-live-samples";

const SPANS = [15, 60, 360, 1440];

/** Usage of a session over time, against its allocation. */
export function UsageTab({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const [minutes, setMinutes] = useState(60);
  const past = useQuery(sessionsUsageQuery(session.id, minutes));
  const samples = useLiveSamples(past.data, useReadings(session.id), minutes);
  const times = useMemo(() => samples.map((sample) => Date.parse(sample.at) / 1000), [samples]);
  const cpu = useMemo(() => samples.map((sample) => sample.cpu_millis), [samples]);
  const mem = useMemo(() => samples.map((sample) => sample.mem_bytes), [samples]);

  const names: Record<number, string> = { 15: t`15 minutes`, 60: t`1 hour`, 360: t`6 hours`, 1440: t`1 day` };
  return (
    <Stack gap="md">
      <SegmentedControl
        size="xs"
        aria-label={t`Time range`}
        value={String(minutes)}
        onChange={(value) => setMinutes(Number(value))}
        data={SPANS.map((span) => ({ value: String(span), label: names[span] ?? "" }))}
        style={{ alignSelf: "flex-start" }}
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
          <section>
            <Title order={3} size="h6">
              <Trans>CPU cores</Trans>
            </Title>
            <UsageChart
              times={times}
              values={cpu}
              given={session.slots.cpu ?? 0}
              format={formatCores}
              color="--carrel-cpu"
              label={t`CPU usage over time`}
            />
          </section>
          <section>
            <Title order={3} size="h6">
              <Trans>Memory</Trans>
            </Title>
            <UsageChart
              times={times}
              values={mem}
              given={session.slots.mem ?? 0}
              format={formatSize}
              color="--carrel-mem"
              label={t`Memory usage over time`}
            />
          </section>
          <Text size="xs" c="dimmed">
            <Trans>The dashed line is the allocation of the session.</Trans>
          </Text>
          <UsageFigures samples={samples} />
        </>
      )}
    </Stack>
  );
}
