import { useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { groupsChoiceQuery } from "@/queries/groups";
import { useAddress } from "@/routing/use-address";
import styles from "@/ui/table/list.module.css";
import { usePageTitle } from "@/ui/use-page-title";
import { QueueList } from "./QueueList";
import { SharesPanel } from "./SharesPanel";
import { usualGroup } from "./usual-group";

const route = getRouteApi("/shell/scheduler");

/** The queue and the fair shares of a resource group. */
export function SchedulerPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const me = useMe();
  const groups = useQuery(groupsChoiceQuery).data;
  const group = search.group ?? usualGroup(groups);
  const names = groups?.map(({ name }) => name) ?? [];
  const maySeeShares = mayBeyondOwn(me, "share.read");
  const shares = maySeeShares && search.view === "shares";
  usePageTitle(t`Scheduler`);
  const change = useAddress<typeof search>();
  const choices = (
    <>
      <Select
        size="xs"
        w={170}
        aria-label={t`Resource group`}
        allowDeselect={false}
        data={names.includes(group) ? names : [...names, group]}
        value={group}
        onChange={(name) => name && change({ group: name })}
      />
      {maySeeShares && (
        <SegmentedControl
          size="xs"
          aria-label={t`View`}
          value={shares ? "shares" : "queue"}
          onChange={(view) => change({ view: view === "shares" ? "shares" : undefined })}
          data={[
            { value: "queue", label: t`Queue` },
            { value: "shares", label: t`Shares` },
          ]}
        />
      )}
    </>
  );
  return (
    <div className={styles.page}>
      {shares ? (
        <SharesPanel key={group} group={group} choices={choices} />
      ) : (
        <QueueList key={group} group={group} search={search} choices={choices} onChange={change} />
      )}
    </div>
  );
}
