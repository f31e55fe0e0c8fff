import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Box, Stack, Text } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import type { NewSshKey, SshKey } from "@/api/types";
import { useRefusal } from "@/me/may";
import { sshKeysListQuery, useRemoveSshKey } from "@/queries/ssh-keys";
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
import { PrivateKeyCard } from "./PrivateKeyCard";
import { SshKeyForm } from "./SshKeyForm";
import { SSH_KEY_COLUMNS } from "./ssh-key-columns";

const route = getRouteApi("/shell/settings/ssh-keys");
const idOf = (key: SshKey) => key.id;
const look = (key: SshKey) => ({ name: key.name });

/** The user's public SSH keys. */
export function SshKeysPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const keys = useQuery(sshKeysListQuery);
  const [made, setMade] = useState<NewSshKey>();
  const { mutateAsync: remove } = useRemoveSshKey();
  const refused = useRefusal()("ssh_key.update");
  usePageTitle(t`SSH keys`);
  const change = useAddress<typeof search>();
  const shown = useMemo(() => {
    const needle = (search.q ?? "").toLowerCase();
    return (keys.data ?? []).filter(({ name, fingerprint }) =>
      `${name}\n${fingerprint}`.toLowerCase().includes(needle),
    );
  }, [keys.data, search.q]);
  const askRemove = useCallback(
    ({ id, name }: SshKey) =>
      askToConfirm({
        title: t`Remove SSH key`,
        closeLabel: t`Close`,
        confirm: t`Remove`,
        command: commandLine("carrel", "ssh-key", "rm", id),
        onConfirm: () => remove(id),
        children: (
          <Trans>
            Removes <b>{name}</b> from your account.
          </Trans>
        ),
      }),
    [t, remove],
  );
  const tools = useCallback(
    (key: SshKey) => (
      <RowTool
        label={t`Remove`}
        row={key.name}
        icon={IconTrash}
        color="red"
        refusal={refused}
        onClick={() => askRemove(key)}
      />
    ),
    [t, askRemove, refused],
  );
  const acts = useCallback(
    (key: SshKey) => {
      const removeIt = () => askRemove(key);
      return { Delete: removeIt };
    },
    [askRemove],
  );
  const make = () => change({ form: "new" });
  const making = search.form === "new";
  useReturnFocus(making);
  usePageKeys({
    make: { label: t`New SSH key`, refusal: refused, onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`SSH keys`}
        action={<MainButton icon={IconPlus} label={t`New SSH key`} refusal={refused} onClick={make} />}
      >
        <SearchBox
          ref={searchBox}
          label={t`Search by name or fingerprint`}
          placeholder={t`Name or fingerprint`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
      </ListToolbar>
      <Stack px="md" pb="sm" gap="sm">
        <Text size="sm" c="dimmed" maw={720}>
          <Trans>
            The public keys of your machines. They open your sessions by SSH; the details of a running session
            show how.
          </Trans>
        </Text>
        {made?.private_key && (
          <Box maw={720}>
            <PrivateKeyCard name={made.name} text={made.private_key} onDone={() => setMade(undefined)} />
          </Box>
        )}
      </Stack>
      <DataTable
        label={t`SSH keys`}
        rows={shown}
        rowId={idOf}
        columns={SSH_KEY_COLUMNS}
        loading={keys.isPending}
        problem={keys.error}
        onRetry={() => void keys.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        acts={acts}
        tools={tools}
        empty={
          search.q ? (
            <EmptyState title={t`No SSH keys match the filter`} />
          ) : (
            <EmptyState
              title={t`You have no SSH keys`}
              text={t`Add the public key of your machine, or generate a new pair.`}
            />
          )
        }
      />
      {keys.data && (
        <ListFoot
          count={shown.length}
          counted={<Plural value={shown.length} one="# SSH key" other="# SSH keys" />}
        />
      )}
      <FormDrawer
        opened={making}
        onClose={() => change({ form: undefined })}
        title={t`New SSH key`}
        closeButtonProps={{ "aria-label": t`Close` }}
        size="32rem"
      >
        <SshKeyForm onClose={() => change({ form: undefined })} onMade={setMade} />
      </FormDrawer>
    </div>
  );
}
