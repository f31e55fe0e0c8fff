import { Plural, useLingui } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useRef } from "react";
import type { Node } from "@/api/types";
import { NodeFilters } from "@/features/resources/NodeFilters";
import { NODE_COLUMNS, NODE_FIELDS } from "@/features/resources/node-columns";
import { filterOf } from "@/features/resources/node-filter";
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

const NodeMap = part(() => import("@/features/resources/NodeMap").then((m) => m.NodeMap));
const AgentDrawer = part(() => import("./AgentDrawer").then((m) => m.AgentDrawer));

// The load of the machines is for those who may read the usage of nodes, on the page of resources.
const COLUMNS = NODE_COLUMNS.filter(({ key }) => key !== "host");
const route = getRouteApi("/shell/agents");
const idOf = (node: Node) => node.id;
const look = (node: Node) => ({ name: node.name, ended: node.state === "DOWN" });

/** The nodes that the user's sessions can run on, read-only. */
export function AgentsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("agents", COLUMNS);
  const shown = useLast(search.open);
  usePageTitle(t`Agent summary`);
  useReturnFocus(search.open !== undefined);
  usePageKeys({ onSearch: () => searchBox.current?.focus() });

  const change = useAddress<typeof search>();
  const q = useDeferredValue(search.q);
  const filter = filterOf({ ...search, q }, COLUMNS);
  const asMap = search.view === "map";
  const list = useInfiniteQuery({ ...nodesListQuery(filter), enabled: !asMap });
  const { rows: nodes, more } = useRows(list);
  const open = useCallback((node: Node) => change({ open: node.id }), [change]);
  const empty = <EmptyState title={t`No nodes that you can use match the filter`} />;

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Agent summary`}
        tools={
          <>
            {!asMap && <ColumnMenu columns={COLUMNS} chosen={visible} onChange={setVisible} />}
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
            linkTo={(node) => ({ to: "/agents", search: (now) => ({ ...now, open: node.id }) })}
            empty={empty}
          />
        </Suspense>
      ) : (
        <DataTable
          label={t`Nodes`}
          rows={nodes}
          rowId={idOf}
          columns={COLUMNS}
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
          minWidth="70rem"
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
          <AgentDrawer
            opened={search.open !== undefined}
            id={shown}
            onClose={() => change({ open: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
