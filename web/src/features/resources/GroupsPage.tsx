import { Plural, useLingui } from "@lingui/react/macro";
import { Group as Row } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Group } from "@/api/types";
import { everyGroup, type GroupFilter, groupsListQuery } from "@/queries/groups";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { inUse, StateSwitch } from "@/ui/table/StateSwitch";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { GROUP_COLUMNS, GROUP_FIELDS } from "./group-columns";
import { groupLoads } from "./load";
import { useUsedColumns } from "./load-columns";
import { ResourceTabs } from "./ResourceTabs";
import { useGroupActs } from "./use-group-acts";

const GroupDrawer = part(() => import("./GroupDrawer").then((m) => m.GroupDrawer));
const GroupFormDrawer = part(() => import("./GroupForm").then((m) => m.GroupFormDrawer));

const route = getRouteApi("/shell/resources/groups");
const idOf = (group: Group) => group.id;
const look = (group: Group) => ({ name: group.name, ended: !group.active });

/** The resource groups. */
export function GroupsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const acts = useGroupActs();
  const filter: GroupFilter = {
    q: useDeferredValue(search.q),
    active: inUse(search.state),
    sort: serverSort(GROUP_COLUMNS, search),
  };
  const list = useInfiniteQuery(groupsListQuery(filter));
  const { rows, more } = useRows(list);
  const columns = useUsedColumns(GROUP_COLUMNS, rows, groupLoads);
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

  return (
    <ListPage
      title={t`Resource groups`}
      name="groups"
      tabs={<ResourceTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={columns}
      look={look}
      onOpen={useCallback((group: Group) => change({ open: group.id }), [change])}
      tools={tools}
      toolsWidth="5rem"
      minWidth="72rem"
      file={{ name: "groups", fields: GROUP_FIELDS, all: () => everyGroup(filter) }}
      make={{ label: t`New group`, refusal: acts.whyNotMake, onClick: () => change({ make: "one" }) }}
      filters={
        <StateSwitch
          label={t`Group state`}
          on={t`Active`}
          off={t`Disabled`}
          value={search.state}
          onChange={(state) => change({ state })}
        />
      }
      counted={<Plural value={rows.length} one="# group" other="# groups" />}
      empty={{ title: t`No groups match the filter` }}
    >
      <LazyDrawer value={search.make}>
        {(_, opened) => (
          <GroupFormDrawer
            opened={opened}
            onClose={() => change({ make: undefined })}
            // A new group that is not public needs an access list next.
            onMade={(group) =>
              change({ make: undefined, open: group.id, tab: group.public ? undefined : "access" })
            }
          />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.edit}>
        {(id, opened) => (
          <GroupFormDrawer opened={opened} id={id} onClose={() => change({ edit: undefined })} />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <GroupDrawer
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
