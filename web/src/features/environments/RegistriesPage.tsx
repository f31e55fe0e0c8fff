import { Plural, useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Registry } from "@/api/types";
import { everyRegistry, type RegistryFilter, registriesListQuery } from "@/queries/registries";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { EnvironmentsTabs } from "./EnvironmentsTabs";
import { REGISTRY_COLUMNS, REGISTRY_FIELDS } from "./registry-columns";
import { useRegistryActs } from "./use-registry-acts";

const RegistryDrawer = part(() => import("./RegistryDrawer").then((m) => m.RegistryDrawer));
const RegistryFormDrawer = part(() => import("./RegistryForm").then((m) => m.RegistryFormDrawer));

const route = getRouteApi("/shell/environments/registries");
const idOf = (registry: Registry) => registry.id;
const look = (registry: Registry) => ({ name: registry.name, ended: false });
const NEW = "new";

/** The registries that the user administers. */
export function RegistriesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const acts = useRegistryActs();
  const filter: RegistryFilter = {
    q: useDeferredValue(search.q),
    sort: serverSort(REGISTRY_COLUMNS, search),
  };
  const list = useInfiniteQuery(registriesListQuery(filter));
  const { rows, more } = useRows(list);
  const edit = useCallback((registry: Registry) => change({ form: registry.id }), [change]);
  const tools = useCallback(
    (registry: Registry) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool label={t`Edit`} row={registry.name} icon={IconPencil} onClick={() => edit(registry)} />
        <RowTool
          label={t`Remove`}
          row={registry.name}
          icon={IconTrash}
          color="red"
          onClick={() => acts.remove(registry)}
        />
      </Group>
    ),
    [t, acts, edit],
  );

  return (
    <ListPage
      tabs={<EnvironmentsTabs />}
      title={t`Registries`}
      name="registries"
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={REGISTRY_COLUMNS}
      look={look}
      onOpen={useCallback((registry: Registry) => change({ open: registry.id }), [change])}
      tools={tools}
      toolsWidth="5rem"
      minWidth="64rem"
      searched={{ label: t`Search registries`, placeholder: t`Name or address` }}
      file={{ name: "registries", fields: REGISTRY_FIELDS, all: () => everyRegistry(filter) }}
      make={{ label: t`New registry`, refusal: null, onClick: () => change({ form: NEW }) }}
      counted={<Plural value={rows.length} one="# registry" other="# registries" />}
      empty={
        search.q
          ? { title: t`No registries match the filter` }
          : {
              title: t`No registries yet`,
              text: t`Add a registry for credentials, a mirror, or an authority of your own. Public images need none.`,
            }
      }
    >
      <LazyDrawer value={search.form}>
        {(form, opened) => (
          <RegistryFormDrawer
            opened={opened}
            id={form === NEW ? undefined : form}
            onClose={(saved) => change({ form: undefined, open: saved?.id ?? search.open })}
          />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <RegistryDrawer
            opened={opened && search.form === undefined}
            id={id}
            acts={acts}
            onEdit={edit}
            onClose={() => change({ open: undefined })}
          />
        )}
      </LazyDrawer>
    </ListPage>
  );
}
