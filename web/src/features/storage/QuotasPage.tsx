import { Plural, useLingui } from "@lingui/react/macro";
import { SegmentedControl } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Quota } from "@/api/types";
import { everyQuota, type QuotaFilter, quotasListQuery } from "@/queries/quotas";
import { useAddress } from "@/routing/use-address";
import { ListPage } from "@/ui/table/ListPage";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { QUOTA_COLUMNS, QUOTA_FIELDS } from "./quota-columns";
import { StorageTabs } from "./StorageTabs";

const route = getRouteApi("/shell/storage/quotas");
const idOf = (quota: Quota) => `${quota.kind}:${quota.id}`;
const look = (quota: Quota) => ({ name: quota.label });

/** Quota usage of users and projects. */
export function QuotasPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate();
  const change = useAddress<typeof search>();
  const filter: QuotaFilter = {
    q: useDeferredValue(search.q),
    kind: search.kind,
    sort: serverSort(QUOTA_COLUMNS, search),
  };
  const list = useInfiniteQuery(quotasListQuery(filter));
  const { rows, more } = useRows(list);
  const policies = useCallback(
    (quota: Quota) => void navigate({ to: "/policies", search: { kind: quota.kind } }),
    [navigate],
  );
  return (
    <ListPage
      title={t`Quotas`}
      name="quotas"
      tabs={<StorageTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={QUOTA_COLUMNS}
      look={look}
      onOpen={policies}
      minWidth="52rem"
      file={{ name: "quotas", fields: QUOTA_FIELDS, all: () => everyQuota(filter) }}
      searched={{ label: t`Search by name or e-mail`, placeholder: t`Name` }}
      filters={
        <SegmentedControl
          size="xs"
          aria-label={t`Quota type`}
          value={search.kind ?? "all"}
          onChange={(kind) => change({ kind: kind === "all" ? undefined : (kind as "user" | "project") })}
          data={[
            { value: "all", label: t`All` },
            { value: "user", label: t`People` },
            { value: "project", label: t`Projects` },
          ]}
        />
      }
      counted={<Plural value={rows.length} one="# quota" other="# quotas" />}
      empty={{ title: t`No members match the filter` }}
    />
  );
}
