import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Skeleton, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { may } from "@/me/may";
import { useProject } from "@/me/project";
import { useMe } from "@/me/use-me";
import { groupsChoiceQuery } from "@/queries/groups";
import { sessionsCheckQuery } from "@/queries/sessions";
import type { DashboardSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { PageTitle } from "@/ui/PageTitle";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import styles from "./Dashboard.module.css";
import { GroupCard } from "./GroupCard";
import { IdleCard } from "./IdleCard";
import { LeftCard } from "./LeftCard";
import { MineCard } from "./MineCard";
import { NodesCard } from "./NodesCard";
import { QuotasCard } from "./QuotasCard";
import { ScopesCard } from "./ScopesCard";
import { TopProjectsCard } from "./TopProjectsCard";

const route = getRouteApi("/shell/dashboard");

/** The smallest valid request: the response contains the free capacity, whatever the request. */
const LEAST = { cpu: 10, mem: 4 * 2 ** 20 };

/** Usage and free capacity, of the user and in total. */
export function DashboardPage() {
  const { t } = useLingui();
  const me = useMe();
  const administers = may(me, "node.update");
  const { group } = route.useSearch();
  const change = useAddress<DashboardSearch>();
  const project = useProject(me);
  const check = useQuery(sessionsCheckQuery({ slots: LEAST, group, project: project?.id }));
  const groups = useQuery(groupsChoiceQuery).data;
  usePageTitle(t`Dashboard`);
  const shown = groups?.find(({ id }) => id === check.data?.group.id);
  const names = check.data?.groups.map(({ name }) => name) ?? [];
  return (
    <div className={styles.page}>
      <Group gap="md" mb="md">
        <PageTitle>
          <Trans>Dashboard</Trans>
        </PageTitle>
        {names.length > 1 && (
          <Select
            size="xs"
            aria-label={t`Resource group`}
            allowDeselect={false}
            data={names}
            value={check.data?.group.name ?? null}
            onChange={(name) => name && change({ group: name })}
          />
        )}
      </Group>
      {administers && (
        <div className={styles.cards}>
          <div className={`${panel.panel} ${styles.wide}`}>
            <UsageHistory scope="site" title={t`Installation`} />
          </div>
          <TopProjectsCard />
          <IdleCard />
          <NodesCard />
        </div>
      )}
      <Title order={2} size="h3" mt={administers ? "lg" : 0} mb="sm">
        <Trans>My usage</Trans>
      </Title>
      <div className={styles.cards}>
        {check.isPending && <Skeleton height={180} aria-busy />}
        {check.isError && <ProblemAlert problem={check.error} onRetry={() => void check.refetch()} />}
        {check.data && <LeftCard check={check.data} />}
        {shown && <GroupCard group={shown} />}
        <MineCard />
        <QuotasCard />
        {check.data && <ScopesCard scopes={check.data.scopes} />}
        <div className={`${panel.panel} ${styles.wide}`}>
          <UsageHistory scope="user" title={t`My usage over time`} />
        </div>
      </div>
    </div>
  );
}
