import { Plural, useLingui } from "@lingui/react/macro";
import { Group, Stack } from "@mantine/core";
import { IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Provider } from "@/api/types";
import { providersListQuery, useRemoveProvider } from "@/queries/providers";
import { useAddress } from "@/routing/use-address";
import { CopyButton } from "@/ui/CopyButton";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { PROVIDER_COLUMNS } from "./columns";
import { ProviderForm } from "./ProviderForm";
import { TestProvider } from "./TestProvider";
import { providerKindTitle } from "./words";

const route = getRouteApi("/shell/providers");
const idOf = (provider: Provider) => provider.id;
const look = (provider: Provider) => ({ name: provider.name, ended: !provider.active });

/** The identity providers for sign-in. */
export function ProvidersPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const providers = useQuery(providersListQuery);
  const { mutateAsync: remove } = useRemoveProvider();
  const shown = useLast(providers.data?.find(({ id }) => id === search.open));
  const edited = useLast(providers.data?.find(({ id }) => id === search.edit));
  usePageTitle(t`Identity providers`);
  useReturnFocus([search.open, search.edit, search.make].some((one) => one !== undefined));

  const change = useAddress<typeof search>();
  const open = useCallback((provider: Provider) => change({ open: provider.id }), [change]);
  const askRemove = useCallback(
    (provider: Provider) =>
      askToConfirm({
        title: t`Remove identity provider`,
        closeLabel: t`Close`,
        confirm: t`Remove`,
        typedName: provider.name,
        command: commandLine("carrel", "provider", "rm", provider.name),
        onConfirm: async () => {
          await remove(provider.id);
          change({ open: undefined });
        },
        children: (
          <Stack gap="xs">
            <Plural
              value={provider.people}
              _0="Removes its settings and its secret. No users have signed in with it."
              one="Removes its settings and its secret. # user can no longer sign in with it; the account is kept."
              other="Removes its settings and its secret. # users can no longer sign in with it; their accounts are kept."
            />
            <Plural
              value={provider.sign_ins}
              _0="No users are signed in with it now."
              one="# user is signed out immediately."
              other="# users are signed out immediately."
            />
          </Stack>
        ),
      }),
    [t, remove, change],
  );
  const tools = useCallback(
    (provider: Provider) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Edit`}
          row={provider.name}
          icon={IconPencil}
          onClick={() => change({ edit: provider.id })}
        />
        <RowTool
          label={t`Remove`}
          row={provider.name}
          icon={IconTrash}
          color="red"
          onClick={() => askRemove(provider)}
        />
      </Group>
    ),
    [t, change, askRemove],
  );
  const closeForm = (saved?: Provider) =>
    change({ make: undefined, edit: undefined, open: saved?.id ?? search.open });
  const closable = { closeButtonProps: { "aria-label": t`Close` } };

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Identity providers`}
        action={
          <MainButton icon={IconPlus} label={t`New provider`} onClick={() => change({ make: "one" })} />
        }
      />
      <DataTable
        label={t`Identity providers`}
        rows={providers.data ?? []}
        rowId={idOf}
        columns={PROVIDER_COLUMNS}
        loading={providers.isPending}
        problem={providers.error}
        onRetry={() => void providers.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        opened={search.open}
        onOpen={open}
        tools={tools}
        toolsWidth="5rem"
        minWidth="52rem"
        empty={
          <EmptyState
            title={t`No identity providers`}
            text={t`Add an OpenID Connect or LDAP provider, so that users sign in with their existing accounts.`}
          />
        }
      />
      {providers.data && (
        <ListFoot
          count={providers.data.length}
          counted={<Plural value={providers.data.length} one="# provider" other="# providers" />}
        />
      )}
      <FormDrawer
        opened={search.make !== undefined}
        onClose={closeForm}
        size="xl"
        title={t`New identity provider`}
        {...closable}
      >
        <ProviderForm provider={undefined} onDone={closeForm} />
      </FormDrawer>
      {edited && (
        <FormDrawer
          opened={search.edit !== undefined}
          onClose={closeForm}
          size="xl"
          title={t`Edit ${edited.name}`}
          {...closable}
        >
          <ProviderForm key={edited.id} provider={edited} onDone={closeForm} />
        </FormDrawer>
      )}
      {shown && (
        <DetailDrawer
          opened={search.open !== undefined}
          id={shown.id}
          onClose={() => change({ open: undefined })}
          size="lg"
          title={shown.name}
          actions={
            <>
              {" "}
              <MainButton
                variant="default"
                icon={IconPencil}
                label={t`Edit`}
                onClick={() => change({ edit: shown.id })}
              />
              <MainButton
                variant="light"
                color="red"
                icon={IconTrash}
                label={t`Remove…`}
                onClick={() => askRemove(shown)}
              />
            </>
          }
        >
          <Stack gap="lg">
            <ProviderFacts provider={shown} />
            <TestProvider provider={shown} />
          </Stack>
        </DetailDrawer>
      )}
    </div>
  );
}

function ProviderFacts({ provider }: { provider: Provider }) {
  const { t } = useLingui();
  return (
    <Facts
      facts={[
        [t`Kind`, providerKindTitle(provider.kind)],
        [t`Shown on the sign-in page`, provider.active ? t`yes` : t`no`],
        [t`Server`, provider.server],
        [
          t`Redirect URI`,
          provider.redirect_uri !== null && (
            <Group key="uri" gap={2} wrap="nowrap">
              <code style={{ overflowWrap: "anywhere" }}>{provider.redirect_uri}</code>
              <CopyButton text={provider.redirect_uri} label={t`Copy URL`} />
            </Group>
          ),
        ],
        [t`Secret`, provider.secrets.length > 0 ? t`set` : t`none`],
        [t`Domain`, provider.domain.name],
        [t`People`, String(provider.people)],
        [t`Group mappings`, String(provider.mapping.length)],
        [t`Created`, <Instant key="created" at={provider.created_at} />],
      ]}
    />
  );
}
