import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { IconPlus, IconUsersPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useRef } from "react";
import type { User } from "@/api/types";
import { useUsedColumns } from "@/features/resources/load-columns";
import { useRefusal } from "@/me/may";
import { everyUser, type UserFilter, usersListQuery } from "@/queries/users";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { KeyHelpButton } from "@/ui/table/KeyHelp";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { serverSort } from "@/ui/table/sorted";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { useSelection } from "@/ui/table/use-selection";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { USER_COLUMNS, USER_FIELDS, userLoads } from "./columns";
import { UserFilters } from "./UserFilters";
import { UsersTabs } from "./UsersTabs";
import { UserTools } from "./UserTools";
import { useUserActs } from "./use-user-acts";

const CreateUserDrawer = part(() => import("./CreateUserDrawer").then((m) => m.CreateUserDrawer));
const CreateManyDrawer = part(() => import("./CreateManyDrawer").then((m) => m.CreateManyDrawer));
const EditUserDrawer = part(() => import("./EditUserDrawer").then((m) => m.EditUserDrawer));
const UserDrawer = part(() => import("./UserDrawer").then((m) => m.UserDrawer));

const route = getRouteApi("/shell/users");
const idOf = (user: User) => user.id;
const look = (user: User) => ({ name: user.email, ended: user.state !== "active" });

/** The users that the current user administers. The URL alone holds the view state. */
export function UsersPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const acts = useUserActs();
  const refusal = useRefusal();
  const searchBox = useRef<HTMLInputElement>(null);
  const shown = useLast(search.user);
  const edited = useLast(search.edit);
  usePageTitle(t`Users`);
  useReturnFocus([search.user, search.edit, search.make].some((one) => one !== undefined));

  const change = useAddress<typeof search>();
  const q = useDeferredValue(search.q);
  const filter: UserFilter = {
    q,
    state: search.state,
    role: search.role,
    domain: search.domain,
    project: search.project,
    sort: serverSort(USER_COLUMNS, search),
  };
  const list = useInfiniteQuery(usersListQuery(filter));
  const { rows: users, more } = useRows(list);
  const columns = useUsedColumns(USER_COLUMNS, users, userLoads);
  const [visible, setVisible] = useColumnChoice("users", columns);
  const mayChange = useCallback((user: User) => acts.why("user.update", user) === null, [acts]);
  const selection = useSelection(idOf, mayChange);
  const chosen = users.filter(selection.has);

  const open = useCallback((user: User) => change({ user: user.id }), [change]);
  const edit = useCallback((user: User) => change({ edit: user.id }), [change]);
  const whyNotMake = refusal("user.create");
  const make = useCallback(() => change({ make: "one" }), [change]);
  const tools = useCallback(
    (user: User) => <UserTools user={user} acts={acts} onEdit={edit} />,
    [acts, edit],
  );
  const rowActs = (user: User) => ({
    e: mayChange(user) ? () => edit(user) : undefined,
    Delete: acts.whyNotPurge(user) === null ? () => acts.purge([user]) : undefined,
  });
  usePageKeys({
    make: { label: t`New user`, refusal: whyNotMake, onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });
  const filtered = [filter.q, filter.state, filter.role, filter.domain, filter.project].some(Boolean);

  return (
    <div className={styles.page}>
      <UsersTabs />
      <ListToolbar
        title={t`Users`}
        selected={{
          count: chosen.length,
          onClear: selection.clear,
          actions: <Chosen users={chosen} acts={acts} onDone={selection.clear} />,
        }}
        tools={
          <>
            <ColumnMenu columns={columns} chosen={visible} onChange={setVisible} />
            <ExportButton name="users" fields={USER_FIELDS} all={() => everyUser(filter)} />
            <KeyHelpButton />
          </>
        }
        action={
          <Group gap="xs">
            <MainButton
              variant="default"
              icon={IconUsersPlus}
              label={t`Bulk create`}
              refusal={whyNotMake}
              onClick={() => change({ make: "many" })}
            />
            <MainButton icon={IconPlus} label={t`New user`} refusal={whyNotMake} onClick={make} />
          </Group>
        }
      >
        <UserFilters
          ref={searchBox}
          search={search}
          onChange={(part) => {
            selection.clear();
            change(part, "q" in part);
          }}
        />
      </ListToolbar>
      <DataTable
        label={t`Users`}
        rows={users}
        rowId={idOf}
        columns={columns}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={change}
        presorted
        look={look}
        selection={selection}
        opened={search.user}
        onOpen={open}
        acts={rowActs}
        actLines={[
          [["E"], t`Edit`],
          [["Delete"], t`Delete permanently`],
        ]}
        tools={tools}
        toolsWidth="7.25rem"
        minWidth="88rem"
        onNearEnd={more}
        empty={
          filtered ? (
            <EmptyState
              title={t`No users match the filter`}
              action={
                <Button
                  size="xs"
                  variant="default"
                  onClick={() =>
                    change({
                      q: undefined,
                      state: undefined,
                      role: undefined,
                      domain: undefined,
                      project: undefined,
                    })
                  }
                >
                  <Trans>Clear filters</Trans>
                </Button>
              }
            />
          ) : (
            <EmptyState title={t`No users yet`} />
          )
        }
      />
      {list.data && (
        <ListFoot
          count={users.length}
          counted={<Plural value={users.length} one="# user" other="# users" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        <CreateUserDrawer opened={search.make === "one"} onClose={() => change({ make: undefined })} />
        <CreateManyDrawer opened={search.make === "many"} onClose={() => change({ make: undefined })} />
        {shown && (
          <UserDrawer
            opened={search.user !== undefined}
            id={shown}
            tab={search.tab}
            acts={acts}
            onTab={(tab) => change({ tab }, true)}
            onEdit={edit}
            onClose={() => change({ user: undefined, tab: undefined })}
          />
        )}
        {edited && (
          <EditUserDrawer
            opened={search.edit !== undefined}
            id={edited}
            onClose={() => change({ edit: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}

/** The actions on the selected users. */
function Chosen({
  users,
  acts,
  onDone,
}: {
  users: User[];
  acts: ReturnType<typeof useUserActs>;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const active = users.filter((user) => user.state === "active" && acts.whyNotDisable(user) === null);
  const others = users.filter((user) => user.state !== "active");
  const noPurge = users.map((user) => acts.whyNotPurge(user)).find((why) => why !== null) ?? null;
  return (
    <>
      <MainButton variant="default" label={t`Edit…`} onClick={() => acts.edit(users, onDone)} />
      {active.length > 0 && (
        <MainButton variant="default" label={t`Deactivate…`} onClick={() => acts.disable(active)} />
      )}
      {others.length > 0 && (
        <MainButton variant="default" label={t`Activate`} onClick={() => void acts.enable(others)} />
      )}
      <MainButton
        variant="light"
        color="red"
        label={t`Delete permanently…`}
        refusal={noPurge}
        onClick={() => acts.purge(users)}
      />
    </>
  );
}
