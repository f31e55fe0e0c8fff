import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group as Row, Select } from "@mantine/core";
import { IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo, useRef } from "react";
import type { Preset } from "@/api/types";
import { part } from "@/app/part";
import type { PresetsSearch } from "@/app/search";
import { groupsChoiceQuery } from "@/queries/groups-list";
import { useRemovePreset } from "@/queries/presets-change";
import { presetsListQuery } from "@/queries/presets-list";
import { useRefusal } from "@/shell/may";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { PRESET_COLUMNS, PRESET_FIELDS } from "./preset-columns";
import { ResourceTabs } from "./ResourceTabs";

const PresetFormDrawer = part(() => import("./PresetForm").then((m) => m.PresetFormDrawer));

const route = getRouteApi("/shell/resources/presets");
const idOf = (preset: Preset) => preset.id;
const look = (preset: Preset) => ({ name: preset.name });

/** The amounts of slots that the launcher offers by name. */
export function PresetsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/resources/presets" });
  const refusal = useRefusal()("preset.update");
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("presets", PRESET_COLUMNS);
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const list = useQuery(presetsListQuery(search.group));
  const { mutateAsync: remove } = useRemovePreset();
  usePageTitle(t`Presets`);
  useReturnFocus(search.form !== undefined);

  const change = useCallback(
    (part: Partial<PresetsSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const presets = useMemo(() => {
    const q = (search.q ?? "").toLowerCase();
    return (list.data ?? []).filter(({ name }) => name.toLowerCase().includes(q));
  }, [list.data, search.q]);
  const edited = useLast(list.data?.find(({ id }) => id === search.form));
  const edit = useCallback((preset: Preset) => change({ form: preset.id }), [change]);
  const make = useCallback(() => change({ form: "new" }), [change]);
  const tools = useCallback(
    (preset: Preset) => (
      <Row gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={preset.name}
          icon={IconPencil}
          refusal={refusal}
          onClick={() => edit(preset)}
        />
        <RowTool
          label={t`Remove`}
          row={preset.name}
          icon={IconTrash}
          color="red"
          refusal={refusal}
          onClick={() =>
            askToConfirm({
              title: t`Remove a preset`,
              closeLabel: t`Close`,
              confirm: t`Remove`,
              onConfirm: () => remove(preset.id),
              children: (
                <Trans>
                  <b>{preset.name}</b> is offered no more. Sessions that were started with it stay.
                </Trans>
              ),
            })
          }
        />
      </Row>
    ),
    [t, refusal, edit, remove],
  );
  usePageKeys({ onNew: refusal ? undefined : make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <ResourceTabs />
      <ListToolbar
        title={t`Presets`}
        tools={
          <>
            <ColumnMenu columns={PRESET_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="presets" fields={PRESET_FIELDS} all={() => presets} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`New preset`} refusal={refusal} onClick={make} />}
      >
        <Select
          size="xs"
          w={160}
          aria-label={t`Offered in`}
          placeholder={t`Any group`}
          clearable
          clearButtonProps={{ "aria-label": t`Any group` }}
          data={groups.map(({ id, name }) => ({ value: id, label: name }))}
          value={search.group ?? null}
          onChange={(group) => change({ group: group ?? undefined })}
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
        label={t`Presets`}
        rows={presets}
        rowId={idOf}
        columns={PRESET_COLUMNS}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        onOpen={refusal ? undefined : edit}
        tools={tools}
        toolsWidth="5rem"
        empty={
          <EmptyState
            title={search.q || search.group ? t`No preset meets the filter` : t`There is no preset yet`}
            text={t`With presets, people start a session by a name instead of moving sliders.`}
          />
        }
      />
      {list.data && (
        <ListFoot
          count={presets.length}
          counted={<Plural value={presets.length} one="# preset" other="# presets" />}
        />
      )}
      <Suspense fallback={null}>
        <PresetFormDrawer
          opened={search.form === "new"}
          preset={undefined}
          onClose={() => change({ form: undefined })}
        />
        {edited && (
          <PresetFormDrawer
            opened={search.form === edited.id}
            preset={edited}
            onClose={() => change({ form: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
