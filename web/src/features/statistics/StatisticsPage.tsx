import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { StatisticsView } from "@/api/generated/types.gen";
import { statisticsQuery } from "@/queries/usage";
import type { StatisticsSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { useAmounts } from "./amounts";
import { DaysChart } from "./DaysChart";
import { daysOf, recentMonths } from "./period";
import { RowsTable } from "./RowsTable";
import styles from "./Statistics.module.css";
import { StatisticsBar } from "./StatisticsBar";
import { Totals } from "./Totals";

const route = getRouteApi("/shell/statistics");

/** Use, waste, waiting times and cost of a month; prints as a report. */
export function StatisticsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<StatisticsSearch>();
  const month = search.month ?? recentMonths(new Date())[0] ?? "";
  const query = {
    scope: search.scope ?? "user",
    ref: search.ref,
    by: search.by ?? "project",
    ...daysOf(month),
  } as const;
  const statistics = useQuery(statisticsQuery(query));
  usePageTitle(t`Statistics`);
  return (
    <div className={styles.page}>
      <StatisticsBar query={query} month={month} name={statistics.data?.name} onChange={change} />
      {statistics.isPending && <Skeleton height={320} aria-busy />}
      {statistics.isError && (
        <ProblemAlert problem={statistics.error} onRetry={() => void statistics.refetch()} />
      )}
      {statistics.data && <Report view={statistics.data} />}
    </div>
  );
}

function Report({ view }: { view: StatisticsView }) {
  const { t } = useLingui();
  const amounts = useAmounts(view.currency);
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {view.until ? (
          <Trans>
            Days are in UTC. Complete until <Instant at={view.until} />.
          </Trans>
        ) : (
          <Trans>Statistics are computed once an hour; there are none yet.</Trans>
        )}
      </Text>
      {view.items.length === 0 ? (
        <EmptyState
          title={t`No sessions in this month`}
          text={t`Statistics include every session that was allocated resources.`}
        />
      ) : (
        <>
          <Totals view={view} amounts={amounts} />
          <DaysChart view={view} amounts={amounts} />
          <RowsTable view={view} amounts={amounts} />
        </>
      )}
    </>
  );
}
