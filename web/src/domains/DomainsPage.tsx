import { Plural, useLingui } from "@lingui/react/macro";
import { SegmentedControl } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useMemo, useRef } from "react";
import type { Domain } from "@/api/types";
import { part } from "@/app/part";
import type { PlacesSearch } from "@/app/search";
import { type DomainFilter, domainsListQuery, everyDomain } from "@/queries/domains-list";

import { useRefusal } from "@/shell/may";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { SearchBox } from "@/ui/table/SearchBox";
import { serverSort } from "@/ui/table/sorted";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { PeopleTabs } from "@/users/PeopleTabs";
import { DOMAIN_COLUMNS, DOMAIN_FIELDS } from "./columns";
import { DomainTools } from "./DomainTools";
import { useDomainActs } from "./use-domain-acts";

const DomainDrawer = part(() => import("./DomainDrawer").then((m) => m.DomainDrawer));
const DomainFormDrawer = part(() => import("./DomainForm").then((m) => m.DomainFormDrawer));

const route = getRouteApi("/shell/domains");
const idOf = (domain: Domain) => domain.id;
const look = (domain: Domain) => ({ name: domain.name, ended: !domain.active });
const ACTIVE = { off: false, all: undefined } as const;

/** The domains that somebody administers. */
export function DomainsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/domains" });
  const acts = useDomainActs();
  const refusal = useRefusal();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("domains", DOMAIN_COLUMNS);
  const shown = useLast(search.open);
  const edited = useLast(search.edit);
  usePageTitle(t`Domains`);
  useReturnFocus([search.open, search.edit, search.make].some((one) => one !== undefined));

  const change = useCallback(
    (part: Partial<PlacesSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const filter: DomainFilter = {
    q: useDeferredValue(search.q),
    active: search.state ? ACTIVE[search.state] : true,
    sort: serverSort(DOMAIN_COLUMNS, search),
  };
  const list = useInfiniteQuery(domainsListQuery(filter));
  const domains = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items), [list.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const open = useCallback((domain: Domain) => change({ open: domain.id }), [change]);
  const edit = useCallback((domain: Domain) => change({ edit: domain.id }), [change]);
  const whyNotMake = refusal("domain.create");
  const make = useCallback(() => change({ make: "one" }), [change]);
  const tools = useCallback(
    (domain: Domain) => <DomainTools domain={domain} acts={acts} onEdit={edit} />,
    [acts, edit],
  );
  usePageKeys({ onNew: whyNotMake ? undefined : make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <PeopleTabs />
      <ListToolbar
        title={t`Domains`}
        tools={
          <>
            <ColumnMenu columns={DOMAIN_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="domains" fields={DOMAIN_FIELDS} all={() => everyDomain(filter)} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`New domain`} refusal={whyNotMake} onClick={make} />}
      >
        <SegmentedControl
          size="xs"
          aria-label={t`Which domains`}
          value={search.state ?? "on"}
          onChange={(state) => change({ state: state === "on" ? undefined : (state as "off" | "all") })}
          data={[
            { value: "on", label: t`Active` },
            { value: "off", label: t`Disabled` },
            { value: "all", label: t`All` },
          ]}
        />
        <SearchBox
          ref={searchBox}
          label={t`Search by name`}
          placeholder={t`Name`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <DataTable
        label={t`Domains`}
        rows={domains}
        rowId={idOf}
        columns={DOMAIN_COLUMNS}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={change}
        presorted
        look={look}
        opened={search.open}
        onOpen={open}
        tools={tools}
        toolsWidth="7.25rem"
        minWidth="64rem"
        onNearEnd={more}
        empty={
          <EmptyState
            title={search.q || search.state ? t`No domain meets the filter` : t`There is no domain yet`}
          />
        }
      />
      {list.data && (
        <ListFoot
          count={domains.length}
          counted={<Plural value={domains.length} one="# domain" other="# domains" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        <DomainFormDrawer opened={search.make !== undefined} onClose={() => change({ make: undefined })} />
        {edited && (
          <DomainFormDrawer
            opened={search.edit !== undefined}
            id={edited}
            onClose={() => change({ edit: undefined })}
          />
        )}
        {shown && (
          <DomainDrawer
            opened={search.open !== undefined}
            id={shown}
            acts={acts}
            onEdit={edit}
            onClose={() => change({ open: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
