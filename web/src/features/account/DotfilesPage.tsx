import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import { IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import type { Dotfile } from "@/api/types";
import { useRefusal } from "@/me/may";
import { dotfilesListQuery, useRemoveDotfile } from "@/queries/dotfiles";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { DotfileForm } from "./DotfileForm";
import { DOTFILE_COLUMNS } from "./dotfile-columns";

const route = getRouteApi("/shell/settings/dotfiles");
const idOf = (file: Dotfile) => file.path;
const look = (file: Dotfile) => ({ name: file.path });

/** The user's dotfiles. */
export function DotfilesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const files = useQuery(dotfilesListQuery);
  const [edited, setEdited] = useState<string>();
  const { mutateAsync: remove } = useRemoveDotfile();
  const refused = useRefusal()("dotfile.update");
  usePageTitle(t`Dotfiles`);
  const change = useAddress<typeof search>();
  const shown = useMemo(() => {
    const needle = (search.q ?? "").toLowerCase();
    return (files.data ?? []).filter(({ path }) => path.toLowerCase().includes(needle));
  }, [files.data, search.q]);
  const askRemove = useCallback(
    ({ path }: Dotfile) =>
      askToConfirm({
        title: t`Remove dotfile`,
        closeLabel: t`Close`,
        confirm: t`Remove`,
        command: commandLine("carrel", "dotfile", "rm", path),
        onConfirm: () => remove(path),
        children: (
          <Trans>
            Removes <b>{path}</b>. Sessions that have it keep it.
          </Trans>
        ),
      }),
    [t, remove],
  );
  const tools = useCallback(
    (file: Dotfile) => (
      <Group gap={2} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={file.path}
          icon={IconPencil}
          refusal={refused}
          onClick={() => setEdited(file.path)}
        />
        <RowTool
          label={t`Remove`}
          row={file.path}
          icon={IconTrash}
          color="red"
          refusal={refused}
          onClick={() => askRemove(file)}
        />
      </Group>
    ),
    [t, askRemove, refused],
  );
  const acts = useCallback(
    (file: Dotfile) => {
      const removeIt = () => askRemove(file);
      return { Delete: removeIt };
    },
    [askRemove],
  );
  const make = () => change({ form: "new" });
  const making = search.form === "new";
  const close = () => {
    setEdited(undefined);
    if (making) change({ form: undefined });
  };
  useReturnFocus(making || edited !== undefined);
  usePageKeys({
    make: { label: t`New dotfile`, refusal: refused, onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Dotfiles`}
        action={<MainButton icon={IconPlus} label={t`New dotfile`} refusal={refused} onClick={make} />}
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by path`}
          placeholder={t`Path`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <Text size="sm" c="dimmed" maw={720} px="md" pb="sm">
        <Trans>
          Small files, such as .bashrc, that your sessions have in their home from their first start. A folder
          that is mounted there takes precedence.
        </Trans>
      </Text>
      <DataTable
        label={t`Dotfiles`}
        rows={shown}
        rowId={idOf}
        columns={DOTFILE_COLUMNS}
        loading={files.isPending}
        problem={files.error}
        onRetry={() => void files.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        acts={acts}
        tools={tools}
        empty={
          search.q ? (
            <EmptyState title={t`No dotfiles match the filter`} />
          ) : (
            <EmptyState
              title={t`You have no dotfiles`}
              text={t`Add files such as .bashrc or .vimrc that every session should have.`}
            />
          )
        }
      />
      {files.data && (
        <ListFoot
          count={shown.length}
          counted={<Plural value={shown.length} one="# dotfile" other="# dotfiles" />}
        />
      )}
      <FormDrawer
        opened={making || edited !== undefined}
        onClose={close}
        title={edited ?? t`New dotfile`}
        closeButtonProps={{ "aria-label": t`Close` }}
        size="40rem"
      >
        <DotfileForm path={edited} onClose={close} />
      </FormDrawer>
    </div>
  );
}
