import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group as Row, Select } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo } from "react";
import type { Preset } from "@/api/types";
import { useRefusal } from "@/me/may";
import { groupsChoiceQuery } from "@/queries/groups";
import { presetsListQuery, useRemovePreset } from "@/queries/presets";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { useLast } from "@/ui/use-last";
import { PRESET_COLUMNS, PRESET_FIELDS } from "./preset-columns";
import { ResourceTabs } from "./ResourceTabs";

const PresetFormDrawer = part(() => import("./PresetForm").then((m) => m.PresetFormDrawer));

const route = getRouteApi("/shell/resources/presets");
const idOf = (preset: Preset) => preset.id;
const look = (preset: Preset) => ({ name: preset.name });
const NEW = "new";

/** The presets of the launcher. */
export function PresetsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const refusal = useRefusal()("preset.update");
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const list = useQuery(presetsListQuery(search.group));
  const { mutateAsync: remove } = useRemovePreset();
  const presets = useMemo(() => {
    const q = (search.q ?? "").toLowerCase();
    return (list.data ?? []).filter(({ name }) => name.toLowerCase().includes(q));
  }, [list.data, search.q]);
  const edited = useLast(list.data?.find(({ id }) => id === search.form));
  const edit = useCallback((preset: Preset) => change({ form: preset.id }), [change]);
  const close = () => change({ form: undefined });
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
              title: t`Remove preset`,
              closeLabel: t`Close`,
              confirm: t`Remove`,
              command: commandLine("carrel", "preset", "rm", preset.id),
              onConfirm: () => remove(preset.id),
              children: (
                <Trans>
                  Removes <b>{preset.name}</b>. Sessions that were started with it are not affected.
                </Trans>
              ),
            })
          }
        />
      </Row>
    ),
    [t, refusal, edit, remove],
  );

  return (
    <ListPage
      title={t`Presets`}
      name="presets"
      tabs={<ResourceTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={presets}
      rowId={idOf}
      columns={PRESET_COLUMNS}
      look={look}
      onOpen={refusal ? undefined : edit}
      tools={tools}
      toolsWidth="5rem"
      file={{ name: "presets", fields: PRESET_FIELDS, all: () => presets }}
      make={{ label: t`New preset`, refusal, onClick: () => change({ form: NEW }) }}
      filters={
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
      }
      counted={<Plural value={presets.length} one="# preset" other="# presets" />}
      empty={{
        title: search.q || search.group ? t`No presets match the filter` : t`No presets yet`,
        text: t`With presets, users select a named size instead of single slot amounts.`,
      }}
    >
      <Suspense fallback={null}>
        <PresetFormDrawer opened={search.form === NEW} preset={undefined} onClose={close} />
        {edited && <PresetFormDrawer opened={search.form === edited.id} preset={edited} onClose={close} />}
      </Suspense>
    </ListPage>
  );
}
