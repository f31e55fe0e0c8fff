import { Plural, useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { StorageHost } from "@/api/types";
import { everyHost, type HostFilter, hostsListQuery } from "@/queries/hosts";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { HOST_COLUMNS, HOST_FIELDS } from "./host-columns";
import { StorageTabs } from "./StorageTabs";
import { useHostActs } from "./use-host-acts";

const HostDrawer = part(() => import("./HostDrawer").then((m) => m.HostDrawer));
const HostFormDrawer = part(() => import("./HostForm").then((m) => m.HostFormDrawer));

const route = getRouteApi("/shell/storage");
const idOf = (host: StorageHost) => host.id;
const look = (host: StorageHost) => ({ name: host.name, ended: !host.active });
const NEW = "new";

/** The storage hosts with their states and access. */
export function HostsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const acts = useHostActs();
  const filter: HostFilter = { q: useDeferredValue(search.q), sort: serverSort(HOST_COLUMNS, search) };
  const list = useInfiniteQuery(hostsListQuery(filter));
  const { rows, more } = useRows(list);
  const edit = useCallback((host: StorageHost) => change({ form: host.id }), [change]);
  const tools = useCallback(
    (host: StorageHost) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={host.name}
          icon={IconPencil}
          refusal={acts.why}
          onClick={() => edit(host)}
        />
        <RowTool
          label={t`Remove`}
          row={host.name}
          icon={IconTrash}
          color="red"
          refusal={acts.whyNotRemove(host)}
          onClick={() => acts.remove(host)}
        />
      </Group>
    ),
    [t, acts, edit],
  );

  return (
    <ListPage
      title={t`Storage hosts`}
      name="hosts"
      tabs={<StorageTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={HOST_COLUMNS}
      look={look}
      onOpen={useCallback((host: StorageHost) => change({ open: host.id }), [change])}
      tools={tools}
      toolsWidth="5rem"
      minWidth="64rem"
      file={{ name: "storage-hosts", fields: HOST_FIELDS, all: () => everyHost(filter) }}
      make={{ label: t`New storage host`, refusal: acts.why, onClick: () => change({ form: NEW }) }}
      counted={<Plural value={rows.length} one="# storage host" other="# storage hosts" />}
      empty={
        search.q
          ? { title: t`No storage hosts match the filter` }
          : {
              title: t`No storage hosts yet`,
              text: t`Folders are stored on a storage host. Create one to start.`,
            }
      }
    >
      <LazyDrawer value={search.form}>
        {(form, opened) => (
          <HostFormDrawer
            opened={opened}
            id={form === NEW ? undefined : form}
            onClose={() => change({ form: undefined })}
          />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <HostDrawer
            opened={opened}
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
