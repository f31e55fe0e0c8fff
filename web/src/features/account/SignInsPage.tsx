import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconLogout } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Login } from "@/api/types";
import { useRefusal } from "@/me/may";
import { loginsListQuery, useEndLogin, useEndOtherLogins } from "@/queries/logins";
import { useAddress } from "@/routing/use-address";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { RowTool } from "@/ui/table/RowTool";
import { usePageTitle } from "@/ui/use-page-title";
import { LOGIN_COLUMNS, useDeviceName } from "./login-columns";

const route = getRouteApi("/shell/settings/sign-ins");
const idOf = (login: Login) => login.id;

/** The user's active sign-ins, and signing them out. */
export function SignInsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const logins = useInfiniteQuery(loginsListQuery);
  const { mutateAsync: end } = useEndLogin();
  const { mutateAsync: endOthers } = useEndOtherLogins();
  const deviceName = useDeviceName();
  const refused = useRefusal()("login.remove");
  usePageTitle(t`Sign-ins`);
  const rows = useMemo(() => (logins.data?.pages ?? []).flatMap((page) => page.items), [logins.data]);
  const others = rows.filter((login) => !login.current).length;

  const askEnd = useCallback(
    (login: Login) => {
      const device = deviceName(login);
      askToConfirm({
        title: t`Sign out browser`,
        closeLabel: t`Close`,
        confirm: t`Sign out`,
        command: commandLine("carrel", "sign-in", "rm", login.id),
        onConfirm: () => end(login.id),
        children: (
          <Trans>
            <b>{device}</b> at {login.address} is signed out. Your sessions keep running.
          </Trans>
        ),
      });
    },
    [t, end, deviceName],
  );
  const askEndOthers = () =>
    askToConfirm({
      title: t`Sign out all other browsers`,
      closeLabel: t`Close`,
      confirm: t`Sign out all other browsers`,
      onConfirm: async () => {
        const ended = await endOthers();
        notifications.show({ message: t`${ended} signed out.` });
      },
      children: (
        <Trans>
          All browsers except this one are signed out. Keypairs and tokens keep working, and your sessions
          keep running.
        </Trans>
      ),
    });
  const tools = useCallback(
    (login: Login) => (
      <RowTool
        label={t`Sign out`}
        row={deviceName(login)}
        icon={IconLogout}
        refusal={login.current ? t`This is your current browser. Use the user menu to sign out.` : refused}
        onClick={() => askEnd(login)}
      />
    ),
    [t, askEnd, deviceName, refused],
  );

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Sign-ins`}
        action={
          <MainButton
            variant="default"
            icon={IconLogout}
            label={t`Sign out all other browsers`}
            refusal={refused ?? (others === 0 ? t`You are not signed in to any other browser.` : null)}
            onClick={askEndOthers}
          />
        }
      />
      <Stack px="md" pb="sm" gap="xs" maw={720}>
        <Text size="sm" c="dimmed">
          <Trans>If you do not recognize a browser, sign it out and change your password.</Trans>
        </Text>
        <CommandLine text="carrel sign-in rm --everywhere" />
      </Stack>
      <DataTable
        label={t`Sign-ins`}
        rows={rows}
        rowId={idOf}
        columns={LOGIN_COLUMNS}
        loading={logins.isPending}
        problem={logins.error}
        onRetry={() => void logins.refetch()}
        sorting={search}
        onSort={change}
        look={(login) => ({ name: deviceName(login) })}
        tools={tools}
        minWidth="58rem"
        empty={<EmptyState title={t`No signed-in browsers`} />}
      />
      {logins.data && (
        <ListFoot
          count={rows.length}
          counted={<Plural value={rows.length} one="# sign-in" other="# sign-ins" />}
          more={logins.hasNextPage}
          loading={logins.isFetchingNextPage}
          onMore={() => void logins.fetchNextPage()}
        />
      )}
    </div>
  );
}
