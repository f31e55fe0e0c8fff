import { Plural, useLingui } from "@lingui/react/macro";
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { IconFileDownload, IconRefresh, IconShieldCheck } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import type { AuditEntry } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { auditListQuery } from "@/queries/audit";
import type { AuditSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { AuditFilters } from "./AuditFilters";
import { ChainPanel } from "./ChainPanel";
import { AUDIT_COLUMNS } from "./columns";
import { EntryDrawer } from "./EntryDrawer";
import { exportAddress } from "./export-address";
import { auditFilter } from "./filter";

const route = getRouteApi("/shell/audit");
const idOf = (entry: AuditEntry) => String(entry.id);
const look = (entry: AuditEntry) => ({ name: `${entry.action} ${entry.object.name}` });

/** The audit trail: of the user, or of all users that they administer. */
export function AuditPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const me = useMe();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("audit", AUDIT_COLUMNS);
  const [chain, setChain] = useState(false);
  usePageTitle(t`Audit`);
  usePageKeys({ onSearch: () => searchBox.current?.focus() });
  useReturnFocus(search.open !== undefined);

  const deferred = useDeferredValue(search);
  const filter = useMemo(() => auditFilter(deferred, new Date()), [deferred]);
  const list = useInfiniteQuery(auditListQuery(filter));
  const { rows: entries, more } = useRows(list);
  const open = useCallback((one: AuditEntry) => change({ open: idOf(one) }), [change]);
  const narrow = useCallback((part: Partial<AuditSearch>) => change(part, true), [change]);
  const filtered = Object.values(filter).some((value) => value !== undefined);

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Audit`}
        tools={
          <>
            <Tooltip label={t`Load newer entries`}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t`Load newer entries`}
                loading={list.isRefetching}
                onClick={() => void list.refetch()}
              >
                <IconRefresh size={18} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
            <ColumnMenu columns={AUDIT_COLUMNS} chosen={visible} onChange={setVisible} />
            <Menu position="bottom-end">
              <Menu.Target>
                <Tooltip label={t`Download`}>
                  <ActionIcon variant="subtle" color="gray" aria-label={t`Download`}>
                    <IconFileDownload size={18} stroke={1.6} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item component="a" href={exportAddress(filter, "csv")} download>
                  {t`CSV (spreadsheets)`}
                </Menu.Item>
                <Menu.Item component="a" href={exportAddress(filter, "jsonl")} download>
                  {t`JSON Lines (verifiable)`}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
        }
        action={
          may(me, "audit.verify") && (
            <MainButton
              variant="default"
              icon={IconShieldCheck}
              label={t`Verify audit trail`}
              onClick={() => setChain(!chain)}
            />
          )
        }
      >
        <AuditFilters ref={searchBox} search={search} onChange={narrow} />
      </ListToolbar>
      {chain && <ChainPanel />}
      <DataTable
        label={t`Audit`}
        rows={entries}
        rowId={idOf}
        columns={AUDIT_COLUMNS}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        look={look}
        opened={search.open}
        onOpen={open}
        minWidth="72rem"
        onNearEnd={more}
        empty={<EmptyState title={filtered ? t`No entries match the filter` : t`No entries yet`} />}
      />
      {list.data && (
        <ListFoot
          count={entries.length}
          counted={<Plural value={entries.length} one="# entry" other="# entries" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          onMore={more}
        />
      )}
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <EntryDrawer
            opened={opened}
            id={id}
            listed={entries.find((entry) => idOf(entry) === id)}
            onClose={() => change({ open: undefined })}
          />
        )}
      </LazyDrawer>
    </div>
  );
}
