import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Box, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Keypair, NewKeypair } from "@/api/types";
import { useRefusal } from "@/me/may";
import { keypairsListQuery } from "@/queries/keypairs";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
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
import { KeypairDrawer } from "./KeypairDrawer";
import { KEYPAIR_COLUMNS, KEYPAIR_FIELDS } from "./keypair-columns";
import { NewKeypairCard } from "./NewKeypairCard";
import { useKeypairTools } from "./use-keypair-tools";

const route = getRouteApi("/shell/settings/keypairs");
const keyOf = (keypair: Keypair) => keypair.access_key;
const look = (keypair: Keypair) => ({ name: keypair.name || keypair.access_key, ended: !keypair.active });

/** The current user's keypairs, for the command line and scripts. */
export function KeypairsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const keypairs = useQuery(keypairsListQuery);
  const [made, setMade] = useState<NewKeypair>();
  const refused = useRefusal()("keypair.create");
  const [visible, choose] = useColumnChoice("keypairs", KEYPAIR_COLUMNS);
  usePageTitle(t`Keypairs`);

  const change = useAddress<typeof search>();
  const shown = useMemo(() => {
    const needle = (search.q ?? "").toUpperCase();
    return (keypairs.data ?? []).filter((keypair) =>
      `${keypair.name}\n${keypair.access_key}`.toUpperCase().includes(needle),
    );
  }, [keypairs.data, search.q]);
  const edited = keypairs.data?.find((keypair) => keypair.access_key === search.form);
  const { tools, acts } = useKeypairTools({
    onEdit: useCallback(({ access_key }: Keypair) => change({ form: access_key }), [change]),
    onSecret: setMade,
  });
  const make = () => change({ form: "new" });
  usePageKeys({
    make: { label: t`Create keypair`, refusal: refused, onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Keypairs`}
        tools={
          <>
            <ColumnMenu columns={KEYPAIR_COLUMNS} chosen={visible} onChange={choose} />
            <ExportButton name="keypairs" fields={KEYPAIR_FIELDS} all={() => shown} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`Create keypair`} refusal={refused} onClick={make} />}
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by name or access key`}
          placeholder={t`Name or access key`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <Stack px="md" pb="sm" gap="sm">
        <Text size="sm" c="dimmed" maw={720}>
          <Trans>
            With a keypair, the command line, the SDK and scripts act on your behalf.{" "}
            <code>carrel login</code> creates one for you.
          </Trans>
        </Text>
        {made && (
          <Box maw={720}>
            <NewKeypairCard keypair={made} onDone={() => setMade(undefined)} />
          </Box>
        )}
      </Stack>
      <DataTable
        label={t`Keypairs`}
        rows={shown}
        rowId={keyOf}
        columns={KEYPAIR_COLUMNS}
        visible={visible}
        loading={keypairs.isPending}
        problem={keypairs.error}
        onRetry={() => void keypairs.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        acts={acts}
        tools={tools}
        toolsWidth="8.5rem"
        minWidth="66rem"
        empty={
          search.q ? (
            <EmptyState title={t`No keypairs match the filter`} />
          ) : (
            <EmptyState
              title={t`You have no keypairs`}
              text={t`Create a keypair to use the command line, the SDK or scripts.`}
            />
          )
        }
      />
      {keypairs.data && (
        <ListFoot
          count={shown.length}
          counted={<Plural value={shown.length} one="# keypair" other="# keypairs" />}
        />
      )}
      <KeypairDrawer
        opened={search.form === "new" || edited !== undefined}
        keypair={edited}
        onClose={() => change({ form: undefined })}
        onMade={setMade}
      />
    </div>
  );
}
