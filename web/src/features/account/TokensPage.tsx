import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Box, Stack, Text } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import type { NewToken, Token } from "@/api/types";
import { useRefusal } from "@/me/may";
import { tokensListQuery, useRemoveToken } from "@/queries/tokens";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { NewTokenCard } from "./NewTokenCard";
import { TokenForm } from "./TokenForm";
import { hasExpired, TOKEN_COLUMNS, TOKEN_FIELDS } from "./token-columns";

const route = getRouteApi("/shell/settings/tokens");
const idOf = (token: Token) => token.id;
const look = (token: Token) => ({ name: token.name, ended: hasExpired(token) });

/** Personal tokens: credentials for scripts, with fewer permissions than the user. */
export function TokensPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const tokens = useQuery(tokensListQuery);
  const [made, setMade] = useState<NewToken>();
  const { mutateAsync: remove } = useRemoveToken();
  const refusal = useRefusal();
  usePageTitle(t`Tokens`);
  const change = useAddress<typeof search>();
  const shown = useMemo(() => {
    const needle = (search.q ?? "").toLowerCase();
    return (tokens.data ?? []).filter(({ name, scopes }) =>
      `${name}\n${scopes.join(" ")}`.toLowerCase().includes(needle),
    );
  }, [tokens.data, search.q]);
  const askRemove = useCallback(
    ({ id, name }: Token) =>
      askToConfirm({
        title: t`Revoke token`,
        closeLabel: t`Close`,
        confirm: t`Revoke`,
        command: commandLine("carrel", "token", "rm", id),
        onConfirm: () => remove(id),
        children: (
          <Trans>
            Requests with <b>{name}</b> are rejected immediately. This cannot be undone.
          </Trans>
        ),
      }),
    [t, remove],
  );
  const tools = useCallback(
    (token: Token) => (
      <RowTool
        label={t`Revoke`}
        row={token.name}
        icon={IconTrash}
        color="red"
        refusal={refusal("token.remove")}
        onClick={() => askRemove(token)}
      />
    ),
    [t, askRemove, refusal],
  );
  const acts = useCallback(
    (token: Token) => {
      const removeIt = () => askRemove(token);
      return { Delete: removeIt };
    },
    [askRemove],
  );
  const make = () => change({ form: "new" });
  const making = search.form === "new";
  useReturnFocus(making);
  usePageKeys({
    make: { label: t`New token`, refusal: refusal("token.create"), onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Tokens`}
        tools={<ExportButton name="tokens" fields={TOKEN_FIELDS} all={() => shown} />}
        action={
          <MainButton icon={IconPlus} label={t`New token`} refusal={refusal("token.create")} onClick={make} />
        }
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by name or scope`}
          placeholder={t`Name or scope`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <Stack px="md" pb="sm" gap="sm">
        <Text size="sm" c="dimmed" maw={720}>
          <Trans>A token gives a script the scopes that you select, until it expires.</Trans>
        </Text>
        {made && (
          <Box maw={720}>
            <NewTokenCard token={made} onDone={() => setMade(undefined)} />
          </Box>
        )}
      </Stack>
      <DataTable
        label={t`Tokens`}
        rows={shown}
        rowId={idOf}
        columns={TOKEN_COLUMNS}
        loading={tokens.isPending}
        problem={tokens.error}
        onRetry={() => void tokens.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        acts={acts}
        tools={tools}
        minWidth="64rem"
        empty={
          search.q ? (
            <EmptyState title={t`No tokens match the filter`} />
          ) : (
            <EmptyState
              title={t`You have no tokens`}
              text={t`Create one token for each script or program.`}
            />
          )
        }
      />
      {tokens.data && (
        <ListFoot
          count={shown.length}
          counted={<Plural value={shown.length} one="# token" other="# tokens" />}
        />
      )}
      <FormDrawer
        opened={making}
        onClose={() => change({ form: undefined })}
        title={t`New token`}
        closeButtonProps={{ "aria-label": t`Close` }}
        size="32rem"
      >
        <TokenForm onClose={() => change({ form: undefined })} onMade={setMade} />
      </FormDrawer>
    </div>
  );
}
