import { Plural, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { NodeDevices } from "@/api/types";
import { devicesListQuery } from "@/queries/devices";
import { groupsChoiceQuery } from "@/queries/groups";
import type { DevicesSearch } from "@/routing/search";
import { type ChangeAddress, useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { usualColumns } from "@/ui/table/column";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { usePageTitle } from "@/ui/use-page-title";
import { DeviceHeatMap } from "./DeviceHeatMap";
import { DEVICE_COLUMNS, DEVICE_FIELDS } from "./device-columns";
import { FragmentationReport } from "./FragmentationReport";
import { ResourceTabs } from "./ResourceTabs";

const route = getRouteApi("/shell/resources/devices");
const idOf = (node: NodeDevices) => node.id;
const look = (node: NodeDevices) => ({ name: node.name });
const COLUMNS = usualColumns(DEVICE_COLUMNS);

/** The accelerators of all nodes: as a heat map, as a table, and how broken up they are. */
export function DevicesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<DevicesSearch>();
  usePageTitle(t`Accelerators`);
  const list = useQuery(devicesListQuery({ family: search.family, group: search.group }));
  const nodes = list.data?.items ?? [];
  const empty = (
    <EmptyState
      title={search.family || search.group ? t`No accelerators match the filter` : t`No accelerators yet`}
      text={t`Accelerators appear when an engine reports nodes that have some.`}
    />
  );
  const { view } = search;
  return (
    <div className={styles.page}>
      <ResourceTabs />
      <ListToolbar
        title={t`Accelerators`}
        tools={<ExportButton name="accelerators" fields={DEVICE_FIELDS} all={() => nodes} />}
      >
        <Filters search={search} families={list.data?.families ?? []} onChange={change} />
      </ListToolbar>
      {view === "fragmentation" && <FragmentationReport family={search.family} group={search.group} />}
      {view === undefined && list.data && nodes.length > 0 ? (
        <DeviceHeatMap nodes={nodes} />
      ) : (
        view !== "fragmentation" && (
          <DataTable
            label={t`Accelerators`}
            rows={nodes}
            rowId={idOf}
            columns={DEVICE_COLUMNS}
            visible={COLUMNS}
            loading={list.isPending}
            problem={list.error}
            onRetry={() => void list.refetch()}
            sorting={search}
            onSort={change}
            look={look}
            empty={empty}
          />
        )
      )}
      {view !== "fragmentation" && list.data && (
        <ListFoot
          count={nodes.length}
          counted={<Plural value={nodes.length} one="# node" other="# nodes" />}
        />
      )}
    </div>
  );
}

interface FiltersProps {
  search: DevicesSearch;
  families: readonly string[];
  onChange: ChangeAddress<DevicesSearch>;
}

function Filters({ search, families, onChange }: FiltersProps) {
  const { t } = useLingui();
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label={t`View`}
        value={search.view ?? "map"}
        onChange={(view) =>
          onChange({ view: view === "table" || view === "fragmentation" ? view : undefined })
        }
        data={[
          { value: "map", label: t`Map` },
          { value: "table", label: t`Table` },
          { value: "fragmentation", label: t`Fragmentation` },
        ]}
      />
      <Select
        size="xs"
        w={152}
        aria-label={t`Family`}
        placeholder={t`Family`}
        clearable
        clearButtonProps={{ "aria-label": t`Any family` }}
        data={[...families]}
        value={search.family ?? null}
        onChange={(family) => onChange({ family: family ?? undefined })}
      />
      <Select
        size="xs"
        w={152}
        aria-label={t`Resource group`}
        placeholder={t`Resource group`}
        clearable
        clearButtonProps={{ "aria-label": t`Any group` }}
        data={groups.map(({ id, name }) => ({ value: id, label: name }))}
        value={search.group ?? null}
        onChange={(group) => onChange({ group: group ?? undefined })}
      />
    </>
  );
}
