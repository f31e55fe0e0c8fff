import { Plural, useLingui } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useRef } from "react";
import type { Node } from "@/api/types";
import { everyNode, nodesListQuery } from "@/queries/nodes";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { loadsOf } from "./load";
import { useUsedColumns } from "./load-columns";
import { NodeFilters } from "./NodeFilters";
import { NodeTools } from "./NodeTools";
import { NODE_COLUMNS, NODE_FIELDS } from "./node-columns";
import { filterOf } from "./node-filter";
import { ResourceTabs } from "./ResourceTabs";
import { useNodeActs } from "./use-node-acts";

const NodeMap = part(() => import("./NodeMap").then((m) => m.NodeMap));
const NodeDrawer = part(() => import("./NodeDrawer").then((m) => m.NodeDrawer));
const NodeFormDrawer = part(() => import("./NodeForm").then((m) => m.NodeFormDrawer));
const DrainDialog = part(() => import("./DrainDialog").then((m) => m.DrainDialog));

const route = getRouteApi("/shell/resources");
const idOf = (node: Node) => node.id;
const look = (node: Node) => ({ name: node.name, ended: node.state === "DOWN" });

/** The nodes, as a table or as a map coloured by load. */
export function NodesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("nodes", NODE_COLUMNS);
  const shown = useLast(search.open);
  const edited = useLast(search.edit);
  const drained = useLast(search.drain);
  usePageTitle(t`Nodes`);
  useReturnFocus([search.open, search.edit, search.drain].some((one) => one !== undefined));
  usePageKeys({ onSearch: () => searchBox.current?.focus() });

  const change = useAddress<typeof search>();
  const acts = useNodeActs(change);
  const q = useDeferredValue(search.q);
  const filter = filterOf({ ...search, q }, NODE_COLUMNS);
  const asMap = search.view === "map";
  const list = useInfiniteQuery({ ...nodesListQuery(filter), enabled: !asMap });
  const { rows: nodes, more } = useRows(list);
  const columns = useUsedColumns(NODE_COLUMNS, nodes, loadsOf);
  const open = useCallback((node: Node) => change({ open: node.id }), [change]);
  const tools = useCallback((node: Node) => <NodeTools node={node} acts={acts} />, [acts]);
  const { group, labels, state, cordoned } = search;
  const filtered = [search.q, group, labels, state, cordoned].some((one) => one !== undefined);
  const empty = filtered ? (
    <EmptyState title={t`No nodes match the filter`} />
  ) : (
    <EmptyState
      title={t`No nodes yet`}
      text={t`Nodes appear when an engine lists them. Add an engine or check its connection.`}
    />
  );

  return (
    <div className={styles.page}>
      <ResourceTabs />
      <ListToolbar
        title={t`Nodes`}
        tools={
          <>
            {!asMap && <ColumnMenu columns={columns} chosen={visible} onChange={setVisible} />}
            <ExportButton name="nodes" fields={NODE_FIELDS} all={() => everyNode(filter)} />
          </>
        }
      >
        <NodeFilters ref={searchBox} search={search} onChange={change} />
      </ListToolbar>
      {asMap ? (
        <Suspense fallback={null}>
          <NodeMap
            filter={filter}
            by={search.by}
            onBy={(by) => change({ by }, true)}
            linkTo={(node) => ({ to: "/resources", search: (now) => ({ ...now, open: node.id }) })}
            empty={empty}
          />
        </Suspense>
      ) : (
        <DataTable
          label={t`Nodes`}
          rows={nodes}
          rowId={idOf}
          columns={columns}
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
          minWidth={columns.length < NODE_COLUMNS.length ? "78rem" : "90rem"}
          onNearEnd={more}
          empty={empty}
        />
      )}
      {!asMap && list.data && (
        <ListFoot
          count={nodes.length}
          counted={<Plural value={nodes.length} one="# node" other="# nodes" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        {shown && (
          <NodeDrawer
            opened={search.open !== undefined}
            id={shown}
            tab={search.tab}
            acts={acts}
            onTab={(tab) => change({ tab }, true)}
            onClose={() => change({ open: undefined, tab: undefined })}
          />
        )}
        {edited && (
          <NodeFormDrawer
            opened={search.edit !== undefined}
            id={edited}
            onClose={() => change({ edit: undefined })}
          />
        )}
        {drained && (
          <DrainDialog
            opened={search.drain !== undefined}
            id={drained}
            onClose={() => change({ drain: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
