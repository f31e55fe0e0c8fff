import { useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { UsageHistoryData } from "@/api/generated/types.gen";
import { usageHistoryQuery } from "@/queries/usage";
import { RangeBar } from "@/ui/chart/RangeBar";
import type { TimeRange } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { SPAN_S, shownPeriod, type UsageSpan } from "./measures";
import styles from "./UsageHistory.module.css";
import { useCharts } from "./use-charts";

interface Props {
  scope: UsageHistoryData["query"]["scope"];
  id?: string;
  title?: string;
}

/** Allocation, usage, pending sessions and waits of one scope over time. */
export function UsageHistory({ scope, id, title }: Props) {
  const { t } = useLingui();
  const [span, setSpan] = useState<UsageSpan>("24h");
  const [zoom, setZoom] = useState<TimeRange | null>(null);
  const query = useQuery(usageHistoryQuery(scope, id, span));
  const history = query.data;
  const times = useMemo(() => history?.times.map((at) => Date.parse(at) / 1000) ?? [], [history]);
  const range = useMemo(() => zoom ?? shownPeriod(times, SPAN_S[span]), [zoom, times, span]);
  const charts = useCharts(history?.measures);
  const heading = title ?? t`Usage over time`;
  return (
    <section aria-label={heading}>
      <Stack gap="md">
        <Title order={2} size="h4">
          {heading}
        </Title>
        <RangeBar
          spans={[
            { value: "24h", label: t`24 hours` },
            { value: "7d", label: t`7 days` },
            { value: "30d", label: t`30 days` },
          ]}
          value={span}
          onChange={(next) => {
            setSpan(next);
            setZoom(null);
          }}
          zoomed={zoom !== null}
          onReset={() => setZoom(null)}
        />
        {query.isPending && <Skeleton height={200} aria-busy />}
        {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
        {history && charts.length === 0 && (
          <EmptyState
            title={t`No measurements in this time range`}
            text={t`Usage is recorded once a minute.`}
          />
        )}
        <div className={styles.charts}>
          {charts.map((chart) => (
            <TimeChart
              key={chart.key}
              group={`${scope}:${id ?? ""}`}
              onZoom={setZoom}
              {...chart.drawing}
              {...{ times, range }}
            />
          ))}
        </div>
      </Stack>
    </section>
  );
}
