import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Box, Button, Stack, Text } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useRef } from "react";
import type { Keypair } from "@/api/types";
import { useCreateKeypair } from "@/queries/keypairs-create";
import { keypairsListQuery } from "@/queries/keypairs-list";
import { useRemoveKeypair } from "@/queries/keypairs-remove";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { usePageTitle } from "@/ui/use-page-title";
import { KEYPAIR_COLUMNS, KEYPAIR_FIELDS } from "./columns";
import { NewKeypairCard } from "./NewKeypairCard";

const route = getRouteApi("/shell/keypairs");
const keyOf = (keypair: Keypair) => keypair.access_key;
const look = (keypair: Keypair) => ({ name: keypair.access_key, ended: !keypair.active });

/** The keypairs of the person, for the command line and for scripts. */
export function KeypairsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/keypairs" });
  const searchBox = useRef<HTMLInputElement>(null);
  const keypairs = useQuery(keypairsListQuery);
  const create = useCreateKeypair();
  const { mutateAsync: remove } = useRemoveKeypair();
  usePageTitle(t`Keypairs`);

  const change = (part: typeof search, replace = false) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace });
  const shown = useMemo(
    () =>
      (keypairs.data ?? []).filter(({ access_key }) => access_key.includes((search.q ?? "").toUpperCase())),
    [keypairs.data, search.q],
  );
  const askRemove = useCallback(
    (accessKey: string) =>
      askToConfirm({
        title: t`Delete a keypair`,
        closeLabel: t`Close`,
        confirm: t`Delete`,
        onConfirm: () => remove(accessKey),
        children: (
          <Trans>
            Every script and command line that uses <b>{accessKey}</b> is refused from now on. This cannot be
            undone.
          </Trans>
        ),
      }),
    [t, remove],
  );
  const tools = useCallback(
    ({ access_key }: Keypair) => (
      <RowTool
        label={t`Delete`}
        row={access_key}
        icon={IconTrash}
        color="red"
        onClick={() => askRemove(access_key)}
      />
    ),
    [t, askRemove],
  );
  const acts = (keypair: Keypair) => {
    const removeIt = () => askRemove(keypair.access_key);
    return { Delete: removeIt };
  };
  const make = () => create.mutate();
  usePageKeys({ onNew: make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Keypairs`}
        tools={<ExportButton name="keypairs" fields={KEYPAIR_FIELDS} all={() => shown} />}
        action={
          <Button
            size="xs"
            leftSection={<IconPlus size={15} aria-hidden />}
            loading={create.isPending}
            onClick={make}
          >
            <Trans>New keypair</Trans>
          </Button>
        }
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by access key`}
          placeholder={t`Access key`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <Stack px="md" pb="sm" gap="sm">
        <Text size="sm" c="dimmed" maw={720}>
          <Trans>
            A keypair lets the command line, the SDK and scripts act as you. Signing in with{" "}
            <code>carrel login</code> makes one by itself.
          </Trans>
        </Text>
        {create.data && (
          <Box maw={720}>
            <NewKeypairCard keypair={create.data} onDone={() => create.reset()} />
          </Box>
        )}
        {create.error && <ProblemAlert problem={create.error} />}
      </Stack>
      <DataTable
        label={t`Keypairs`}
        rows={shown}
        rowId={keyOf}
        columns={KEYPAIR_COLUMNS}
        loading={keypairs.isPending}
        problem={keypairs.error}
        onRetry={() => void keypairs.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        acts={acts}
        tools={tools}
        empty={
          search.q ? (
            <EmptyState title={t`No keypair meets the filter`} />
          ) : (
            <EmptyState title={t`You have no keypair`} text={t`Make one to use scripts.`} />
          )
        }
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
