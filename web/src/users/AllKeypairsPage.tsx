import { Plural, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import type { Keypair } from "@/api/types";
import { keypairsOfQuery } from "@/queries/keypairs-of";
import { EmptyState } from "@/ui/EmptyState";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { SearchBox } from "@/ui/table/SearchBox";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { usePageTitle } from "@/ui/use-page-title";
import { KeypairTools } from "./KeypairTools";
import { ALL_KEYPAIR_COLUMNS, ALL_KEYPAIR_FIELDS } from "./keypair-columns";
import { PeopleTabs } from "./PeopleTabs";

const route = getRouteApi("/shell/users/keypairs");
const keyOf = (keypair: Keypair) => keypair.access_key;
const look = (keypair: Keypair) => ({ name: keypair.access_key, ended: !keypair.active });
const tools = (keypair: Keypair) => <KeypairTools keypair={keypair} domain={undefined} />;

/** The keypairs of everybody whom the person administers. */
export function AllKeypairsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/users/keypairs" });
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("all-keypairs", ALL_KEYPAIR_COLUMNS);
  const keypairs = useQuery(keypairsOfQuery("all"));
  usePageTitle(t`Keypairs of everybody`);
  usePageKeys({ onSearch: () => searchBox.current?.focus() });

  const change = (part: typeof search, replace = false) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace });
  const shown = useMemo(() => {
    const q = (search.q ?? "").toLowerCase();
    return (keypairs.data ?? []).filter((keypair) =>
      [keypair.access_key, keypair.name, keypair.owner.email].some((text) => text.toLowerCase().includes(q)),
    );
  }, [keypairs.data, search.q]);

  return (
    <div className={styles.page}>
      <PeopleTabs />
      <ListToolbar
        title={t`Keypairs of everybody`}
        tools={
          <>
            <ColumnMenu columns={ALL_KEYPAIR_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="keypairs" fields={ALL_KEYPAIR_FIELDS} all={() => shown} />
          </>
        }
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by owner, access key or name`}
          placeholder={t`Owner, key or name`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <DataTable
        label={t`Keypairs of everybody`}
        rows={shown}
        rowId={keyOf}
        columns={ALL_KEYPAIR_COLUMNS}
        visible={visible}
        loading={keypairs.isPending}
        problem={keypairs.error}
        onRetry={() => void keypairs.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        tools={tools}
        toolsWidth="9.25rem"
        minWidth="60rem"
        empty={<EmptyState title={search.q ? t`No keypair meets the filter` : t`There is no keypair yet`} />}
      />
      {keypairs.data && (
        <ListFoot
          count={shown.length}
          counted={<Plural value={shown.length} one="# keypair" other="# keypairs" />}
        />
      )}
    </div>
  );
}
