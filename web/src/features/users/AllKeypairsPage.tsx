import { Plural, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Keypair } from "@/api/types";
import { keypairsOfQuery } from "@/queries/keypairs";
import { useAddress } from "@/routing/use-address";
import { ListPage } from "@/ui/table/ListPage";
import { KeypairTools } from "./KeypairTools";
import { ALL_KEYPAIR_COLUMNS, ALL_KEYPAIR_FIELDS } from "./keypair-columns";
import { UsersTabs } from "./UsersTabs";

const route = getRouteApi("/shell/users/keypairs");
const keyOf = (keypair: Keypair) => keypair.access_key;
const look = (keypair: Keypair) => ({ name: keypair.access_key, ended: !keypair.active });
const tools = (keypair: Keypair) => <KeypairTools keypair={keypair} domain={undefined} />;

/** The keypairs of all users that the current user administers. */
export function AllKeypairsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const list = useQuery(keypairsOfQuery("all"));
  const rows = useMemo(() => {
    const q = (search.q ?? "").toLowerCase();
    return (list.data ?? []).filter((keypair) =>
      [keypair.access_key, keypair.name, keypair.owner.email].some((text) => text.toLowerCase().includes(q)),
    );
  }, [list.data, search.q]);
  return (
    <ListPage
      title={t`All keypairs`}
      name="all-keypairs"
      tabs={<UsersTabs />}
      search={search}
      onChange={useAddress<typeof search>()}
      list={list}
      rows={rows}
      rowId={keyOf}
      columns={ALL_KEYPAIR_COLUMNS}
      look={look}
      tools={tools}
      toolsWidth="9.25rem"
      minWidth="60rem"
      file={{ name: "keypairs", fields: ALL_KEYPAIR_FIELDS, all: () => rows }}
      searched={{ label: t`Search by owner, access key or name`, placeholder: t`Owner, key or name` }}
      counted={<Plural value={rows.length} one="# keypair" other="# keypairs" />}
      empty={{ title: search.q ? t`No keypairs match the filter` : t`No keypairs yet` }}
    />
  );
}
