import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Skeleton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useRef } from "react";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { useMe } from "@/me/use-me";
import { everySession, isRequested, sessionsListQuery } from "@/queries/sessions";
import { usageRecentQuery } from "@/queries/usage";
import { part } from "@/routing/part";
import type { SessionsSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { KeyHelpButton } from "@/ui/table/KeyHelp";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { useSelection } from "@/ui/table/use-selection";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { rowHasEnded, rowIsPending, rowName } from "./arrays";
import { SESSION_FIELDS, sessionsView } from "./columns";
import { RowTools } from "./RowTools";
import { OpenRowsContext, opens, useOpenRows } from "./rows/open-rows";
import { SessionCard } from "./SessionCard";
import { SessionFilters } from "./SessionFilters";
import { SessionsNothing } from "./SessionsNothing";
import { useSessionActions } from "./use-actions";
import { useSessionKeys } from "./use-session-keys";
import { SessionViews } from "./views/SessionViews";
import { useShownColumns } from "./views/use-shown-columns";
import { NO_VIEW } from "./views/view-search";

const RowBelow = part(() => import("./rows/RowBelow").then((m) => m.RowBelow));
const LauncherDrawer = part(() =>
  import("@/features/sessions/launcher/LauncherDrawer").then((m) => m.LauncherDrawer),
);
const SessionDrawer = part(() =>
  import("@/features/sessions/detail/SessionDrawer").then((m) => m.SessionDrawer),
);

const route = getRouteApi("/shell/sessions");

const NO_LAUNCHER = {
  launch: undefined,
  mount: undefined,
  template: undefined,
  values: undefined,
  import: undefined,
  with: undefined,
} satisfies SessionsSearch;

const idOf = (session: Session) => session.id;
const canEnd = (session: Session) => !rowHasEnded(session) && !isRequested(session.id);
const look = (session: Session) => ({
  name: rowName(session),
  ended: rowHasEnded(session),
  requested: isRequested(session.id),
});
const projectOf = (session: Session) => session.project.name;

/** The list of sessions with its drawers. The URL alone holds the view state. */
export function SessionsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const me = useMe();
  const actions = useSessionActions();
  const searchBox = useRef<HTMLInputElement>(null);
  const selectable = useCallback(
    (session: Session) => canEnd(session) && actions.whyNotChange(session) === null,
    [actions],
  );
  const selection = useSelection(idOf, selectable);
  const launched = useLast(search.launch);
  const shown = useLast(search.session);
  usePageTitle(t`Sessions`);
  useReturnFocus(search.session !== undefined || search.launch !== undefined);

  const change = useAddress<typeof search>();
  const openRows = useOpenRows(search.rows, change);
  const { acts, actLines } = useSessionKeys(actions, openRows);
  const isOpen = useCallback((session: Session) => openRows.has(session.id) && opens(session), [openRows]);
  const filter: SessionFilter = {
    state: search.state ?? "live",
    q: useDeferredValue(search.q ?? ""),
    owner: search.owner ?? "me",
    array: search.array,
    domain: search.domain,
    project: search.project,
    group: search.group,
    node: search.node,
    kind: search.kind,
  };
  const { name, columns } = sessionsView(filter.state, filter.owner);
  const [visible, setVisible] = useShownColumns(name, columns, search.columns, (keys) =>
    change({ columns: keys }),
  );
  const list = useInfiniteQuery(sessionsListQuery(filter));
  const { rows: sessions, more } = useRows(list);
  const running = sessions.filter((one) => one.state === "RUNNING").map(idOf);
  // Only fills the sparklines, each of which has its own readings.
  useQuery({ ...usageRecentQuery(running.slice(0, 100)), notifyOnChangeProps: [] });
  const chosen = sessions.filter(selection.has);
  const pending = chosen.filter(rowIsPending);

  const open = useCallback(
    (session: Session) => (session.array ? openRows.toggle(session.id) : change({ session: session.id })),
    [change, openRows],
  );
  const keepForm = useCallback((form: typeof search.with) => change({ with: form }, true), [change]);
  const launch = useCallback(() => change({ launch: "new" }), [change]);
  const tools = useCallback(
    (session: Session) => <RowTools session={session} actions={actions} />,
    [actions],
  );
  usePageKeys({
    make: { label: t`Start a session`, onClick: launch },
    onSearch: () => searchBox.current?.focus(),
  });

  return (
    <OpenRowsContext value={openRows}>
      <div className={styles.page}>
        <ListToolbar
          title={t`Sessions`}
          selected={{
            count: chosen.length,
            onClear: selection.clear,
            actions: (
              <>
                {pending.length > 0 && (
                  <Button size="xs" variant="light" onClick={() => actions.prioritise(pending)}>
                    <Trans>Priority…</Trans>
                  </Button>
                )}
                <Button size="xs" color="red" variant="light" onClick={() => actions.terminate(chosen)}>
                  <Trans>Terminate…</Trans>
                </Button>
              </>
            ),
          }}
          tools={
            <>
              <ColumnMenu columns={columns} chosen={visible} onChange={setVisible} />
              <ExportButton name="sessions" fields={SESSION_FIELDS} all={() => everySession(filter)} />
              <KeyHelpButton />
            </>
          }
          action={
            <Button size="xs" leftSection={<IconPlus size={15} aria-hidden />} onClick={launch}>
              <Trans>Start a session</Trans>
            </Button>
          }
        >
          <SessionFilters
            ref={searchBox}
            search={search}
            filter={filter}
            mayseeAll={me.user.role !== "user"}
            projects={me.projects}
            onChange={(part) => {
              selection.clear();
              change(part, "q" in part);
            }}
          />
        </ListToolbar>
        <SessionViews search={search} filter={filter} visible={visible} onLeave={selection.clear} />
        <DataTable
          label={t`Sessions`}
          rows={sessions}
          rowId={idOf}
          columns={columns}
          visible={visible}
          loading={list.isPending}
          problem={list.error}
          onRetry={() => void list.refetch()}
          sorting={search}
          onSort={change}
          look={look}
          selection={selection}
          opened={search.session}
          onOpen={open}
          acts={acts}
          actLines={actLines}
          headingOf={search.by === "project" ? projectOf : undefined}
          isOpen={isOpen}
          below={(session) => (
            <Suspense fallback={<Skeleton height={80} />}>
              <RowBelow session={session} filter={filter} actions={actions} />
            </Suspense>
          )}
          tools={tools}
          toolsWidth="7.25rem"
          minWidth={filter.owner === "me" ? "70rem" : "76rem"}
          onNearEnd={more}
          card={(session) => <SessionCard session={session} actions={actions} onOpen={open} />}
          empty={
            <SessionsNothing
              filtered={
                filter.q !== "" ||
                filter.state !== "live" ||
                filter.owner === "shared" ||
                [filter.domain, filter.project, filter.group, filter.node, filter.kind, filter.array].some(
                  (one) => one !== undefined,
                )
              }
              onLaunch={launch}
              onClear={() => change({ ...NO_VIEW, array: undefined, state: "all" })}
            />
          }
        />
        <ListFoot
          count={sessions.length}
          counted={<Plural value={sessions.length} one="# session" other="# sessions" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          sorted={search.sort !== undefined}
          onMore={more}
        />
        <Suspense fallback={null}>
          {launched && (
            <LauncherDrawer
              opened={search.launch !== undefined}
              from={launched}
              mount={search.mount}
              template={search.template}
              values={search.values}
              imported={search.import}
              link={search.with}
              onLink={keepForm}
              onClose={() => change(NO_LAUNCHER)}
            />
          )}
          {shown && (
            <SessionDrawer
              opened={search.session !== undefined}
              id={shown}
              tab={search.tab ?? "overview"}
              onTab={(tab) => change({ tab: tab === "overview" ? undefined : tab }, true)}
              onClose={() => change({ session: undefined, tab: undefined })}
            />
          )}
        </Suspense>
      </div>
    </OpenRowsContext>
  );
}
