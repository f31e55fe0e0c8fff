import { Plural, useLingui } from "@lingui/react/macro";
import { Group as Row, SegmentedControl } from "@mantine/core";
import { IconCopy, IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useMemo, useRef } from "react";
import type { Policy, PolicyKind } from "@/api/types";
import { part } from "@/app/part";
import { POLICY_KINDS, type PoliciesSearch } from "@/app/search";
import { everyPolicy, type PolicyFilter, policiesListQuery } from "@/queries/policies-list";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { serverSort } from "@/ui/table/sorted";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { POLICY_COLUMNS, POLICY_FIELDS } from "./columns";
import { KINDS } from "./limit-words";
import { usePolicyActs } from "./use-policy-acts";

const PolicyDrawer = part(() => import("./PolicyDrawer").then((m) => m.PolicyDrawer));
const PolicyFormDrawer = part(() => import("./PolicyForm").then((m) => m.PolicyFormDrawer));

const route = getRouteApi("/shell/policies");
const idOf = (policy: Policy) => policy.id;
const look = (policy: Policy) => ({ name: policy.name });

/** The resource policies of one kind: who may have how much. */
export function PoliciesPage() {
  const { t, i18n } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/policies" });
  const acts = usePolicyActs();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("policies", POLICY_COLUMNS);
  const shown = useLast(search.open);
  const edited = useLast(search.form === "new" ? undefined : search.form);
  usePageTitle(t`Resource policies`);
  useReturnFocus([search.open, search.form].some((one) => one !== undefined));

  const change = useCallback(
    (part: Partial<PoliciesSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const kind: PolicyKind = search.kind ?? "keypair";
  const filter: PolicyFilter = {
    kind,
    q: useDeferredValue(search.q),
    sort: serverSort(POLICY_COLUMNS, search),
  };
  const list = useInfiniteQuery(policiesListQuery(filter));
  const policies = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items), [list.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const open = useCallback((policy: Policy) => change({ open: policy.id }), [change]);
  const edit = useCallback((policy: Policy) => change({ form: policy.id }), [change]);
  const make = useCallback(() => change({ form: "new" }), [change]);
  const tools = useCallback(
    (policy: Policy) => (
      <Row gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={policy.name}
          icon={IconPencil}
          refusal={acts.whyNotChange}
          onClick={() => edit(policy)}
        />
        <RowTool
          label={t`Copy`}
          row={policy.name}
          icon={IconCopy}
          refusal={acts.whyNotMake}
          onClick={() => acts.copy(policy)}
        />
        <RowTool
          label={t`Remove`}
          row={policy.name}
          icon={IconTrash}
          color="red"
          refusal={acts.whyNotRemove(policy)}
          onClick={() => acts.remove(policy)}
        />
      </Row>
    ),
    [t, acts, edit],
  );
  usePageKeys({ onNew: acts.whyNotMake ? undefined : make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Resource policies`}
        tools={
          <>
            <ColumnMenu columns={POLICY_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name={`${kind}-policies`} fields={POLICY_FIELDS} all={() => everyPolicy(filter)} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`New policy`} refusal={acts.whyNotMake} onClick={make} />}
      >
        <SegmentedControl
          size="xs"
          aria-label={t`Policies of what`}
          value={kind}
          onChange={(next) =>
            change({ kind: next === "keypair" ? undefined : (next as PolicyKind), open: undefined })
          }
          data={POLICY_KINDS.map((value) => ({ value, label: i18n._(KINDS[value]) }))}
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
        label={t`Resource policies`}
        rows={policies}
        rowId={idOf}
        columns={POLICY_COLUMNS}
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
        minWidth="60rem"
        onNearEnd={more}
        empty={<EmptyState title={t`No policy meets the filter`} />}
      />
      {list.data && (
        <ListFoot
          count={policies.length}
          counted={<Plural value={policies.length} one="# policy" other="# policies" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        <PolicyFormDrawer
          opened={search.form === "new"}
          kind={kind}
          onClose={() => change({ form: undefined })}
        />
        {edited && (
          <PolicyFormDrawer
            opened={search.form !== undefined && search.form !== "new"}
            id={edited}
            kind={kind}
            onClose={() => change({ form: undefined })}
          />
        )}
        {shown && (
          <PolicyDrawer
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
