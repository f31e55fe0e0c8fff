import { Plural, useLingui } from "@lingui/react/macro";
import { Group as Row, SegmentedControl } from "@mantine/core";
import { IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useMemo, useRef } from "react";
import type { Group } from "@/api/types";
import { part } from "@/app/part";
import type { GroupsSearch } from "@/app/search";
import { everyGroup, type GroupFilter, groupsListQuery } from "@/queries/groups-list";
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
import { GROUP_COLUMNS, GROUP_FIELDS } from "./group-columns";
import { ResourceTabs } from "./ResourceTabs";
import { useGroupActs } from "./use-group-acts";

const GroupDrawer = part(() => import("./GroupDrawer").then((m) => m.GroupDrawer));
const GroupFormDrawer = part(() => import("./GroupForm").then((m) => m.GroupFormDrawer));

const route = getRouteApi("/shell/resources/groups");
const idOf = (group: Group) => group.id;
const look = (group: Group) => ({ name: group.name, ended: !group.active });
const ACTIVE = { off: false, all: undefined } as const;

/** The resource groups: which machines are offered to whom, and in what order. */
export function GroupsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/resources/groups" });
  const acts = useGroupActs();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("groups", GROUP_COLUMNS);
  const shown = useLast(search.open);
  const edited = useLast(search.edit);
  usePageTitle(t`Resource groups`);
  useReturnFocus([search.open, search.edit, search.make].some((one) => one !== undefined));

  const change = useCallback(
    (part: Partial<GroupsSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const filter: GroupFilter = {
    q: useDeferredValue(search.q),
    active: search.state ? ACTIVE[search.state] : true,
    sort: serverSort(GROUP_COLUMNS, search),
  };
  const list = useInfiniteQuery(groupsListQuery(filter));
  const groups = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items), [list.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const open = useCallback((group: Group) => change({ open: group.id }), [change]);
  const make = useCallback(() => change({ make: "one" }), [change]);
  const edit = useCallback((group: Group) => change({ edit: group.id }), [change]);
  const tools = useCallback(
    (group: Group) => (
      <Row gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={group.name}
          icon={IconPencil}
          refusal={acts.why}
          onClick={() => edit(group)}
        />
        <RowTool
          label={t`Remove`}
          row={group.name}
          icon={IconTrash}
          color="red"
          refusal={acts.whyNotRemove(group)}
          onClick={() => acts.remove(group)}
        />
      </Row>
    ),
    [t, acts, edit],
  );
  usePageKeys({ onNew: acts.whyNotMake ? undefined : make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <ResourceTabs />
      <ListToolbar
        title={t`Resource groups`}
        tools={
          <>
            <ColumnMenu columns={GROUP_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="groups" fields={GROUP_FIELDS} all={() => everyGroup(filter)} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`New group`} refusal={acts.whyNotMake} onClick={make} />}
      >
        <SegmentedControl
          size="xs"
          aria-label={t`Which groups`}
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
        label={t`Resource groups`}
        rows={groups}
        rowId={idOf}
        columns={GROUP_COLUMNS}
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
        toolsWidth="5rem"
        minWidth="72rem"
        onNearEnd={more}
        empty={<EmptyState title={t`No group meets the filter`} />}
      />
      {list.data && (
        <ListFoot
          count={groups.length}
          counted={<Plural value={groups.length} one="# group" other="# groups" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        <GroupFormDrawer
          opened={search.make !== undefined}
          onClose={() => change({ make: undefined })}
          // Who may use it is the next question where not everybody may.
          onMade={(group) =>
            change({ make: undefined, open: group.id, tab: group.public ? undefined : "access" })
          }
        />
        {edited && (
          <GroupFormDrawer
            opened={search.edit !== undefined}
            id={edited}
            onClose={() => change({ edit: undefined })}
          />
        )}
        {shown && (
          <GroupDrawer
            opened={search.open !== undefined}
            id={shown}
            tab={search.tab ?? "overview"}
            acts={acts}
            onTab={(tab) => change({ tab }, true)}
            onEdit={edit}
            onClose={() => change({ open: undefined, tab: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
