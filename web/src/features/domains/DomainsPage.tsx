import { Plural, useLingui } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Domain } from "@/api/types";
import { useUsedColumns } from "@/features/resources/load-columns";
import { UsersTabs } from "@/features/users/UsersTabs";
import { useRefusal } from "@/me/may";
import { type DomainFilter, domainsListQuery, everyDomain } from "@/queries/domains";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { inUse, StateSwitch } from "@/ui/table/StateSwitch";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { DOMAIN_COLUMNS, DOMAIN_FIELDS, domainLoads } from "./columns";
import { DomainTools } from "./DomainTools";
import { useDomainActs } from "./use-domain-acts";

const DomainDrawer = part(() => import("./DomainDrawer").then((m) => m.DomainDrawer));
const DomainFormDrawer = part(() => import("./DomainForm").then((m) => m.DomainFormDrawer));

const route = getRouteApi("/shell/domains");
const idOf = (domain: Domain) => domain.id;
const look = (domain: Domain) => ({ name: domain.name, ended: !domain.active });

/** The domains that the user administers. */
export function DomainsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const acts = useDomainActs();
  const refusal = useRefusal();
  const filter: DomainFilter = {
    q: useDeferredValue(search.q),
    active: inUse(search.state),
    sort: serverSort(DOMAIN_COLUMNS, search),
  };
  const list = useInfiniteQuery(domainsListQuery(filter));
  const { rows, more } = useRows(list);
  const columns = useUsedColumns(DOMAIN_COLUMNS, rows, domainLoads);
  const edit = useCallback((domain: Domain) => change({ edit: domain.id }), [change]);

  return (
    <ListPage
      title={t`Domains`}
      name="domains"
      tabs={<UsersTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={columns}
      look={look}
      onOpen={useCallback((domain: Domain) => change({ open: domain.id }), [change])}
      tools={useCallback(
        (domain: Domain) => <DomainTools domain={domain} acts={acts} onEdit={edit} />,
        [acts, edit],
      )}
      toolsWidth="7.25rem"
      minWidth="72rem"
      file={{ name: "domains", fields: DOMAIN_FIELDS, all: () => everyDomain(filter) }}
      make={{
        label: t`New domain`,
        refusal: refusal("domain.create"),
        onClick: () => change({ make: "one" }),
      }}
      filters={
        <StateSwitch
          label={t`Domain state`}
          on={t`Active`}
          off={t`Disabled`}
          value={search.state}
          onChange={(state) => change({ state })}
        />
      }
      counted={<Plural value={rows.length} one="# domain" other="# domains" />}
      empty={{
        title: search.q || search.state ? t`No domains match the filter` : t`No domains yet`,
      }}
    >
      <LazyDrawer value={search.make}>
        {(_, opened) => <DomainFormDrawer opened={opened} onClose={() => change({ make: undefined })} />}
      </LazyDrawer>
      <LazyDrawer value={search.edit}>
        {(id, opened) => (
          <DomainFormDrawer opened={opened} id={id} onClose={() => change({ edit: undefined })} />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <DomainDrawer
            opened={opened}
            id={id}
            tab={search.tab}
            acts={acts}
            onTab={(tab) => change({ tab }, true)}
            onEdit={edit}
            onClose={() => change({ open: undefined, tab: undefined })}
          />
        )}
      </LazyDrawer>
    </ListPage>
  );
}
