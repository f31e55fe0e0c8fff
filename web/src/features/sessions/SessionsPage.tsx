import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useRef, useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { useMe } from "@/me/use-me";
import { everySession, isRequested, sessionsListQuery } from "@/queries/sessions";
import { usageRecentQuery } from "@/queries/usage";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import type { Column } from "@/ui/table/column";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { KeyHelp, KeyHelpButton } from "@/ui/table/KeyHelp";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { useSelection } from "@/ui/table/use-selection";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { SESSION_COLUMNS, SESSION_FIELDS } from "./columns";
import { RowTools } from "./RowTools";
import { SessionCard } from "./SessionCard";
import { SessionCells } from "./SessionCells";
import { SessionFilters } from "./SessionFilters";
import { SessionsNothing } from "./SessionsNothing";
import { useSessionActions } from "./use-actions";
import { useSessionKeys } from "./use-session-keys";

const LauncherDrawer = part(() =>
  import("@/features/sessions/launcher/LauncherDrawer").then((m) => m.LauncherDrawer),
);
const DetailDrawer = part(() =>
  import("@/features/sessions/detail/DetailDrawer").then((m) => m.DetailDrawer),
);

const route = getRouteApi("/shell/sessions");

const idOf = (session: Session) => session.id;
const canEnd = (session: Session) => !hasEnded(session.state) && !isRequested(session.id);
const look = (session: Session) => ({
  name: session.name,
  ended: hasEnded(session.state),
  requested: isRequested(session.id),
});
const cells = (session: Session, columns: readonly Column<Session>[]) => (
  <SessionCells session={session} columns={columns} />
);

/** The list of sessions with its drawers. The URL alone holds the view state. */
export function SessionsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const me = useMe();
  const actions = useSessionActions();
  const { acts, keyLines } = useSessionKeys(actions);
  const searchBox = useRef<HTMLInputElement>(null);
  const [helpOpen, setHelpOpen] = useState(false);
  const [visible, setVisible] = useColumnChoice("sessions", SESSION_COLUMNS);
  const selection = useSelection(idOf, canEnd);
  const launched = useLast(search.launch);
  const shown = useLast(search.session);
  usePageTitle(t`Sessions`);
  useReturnFocus(search.session !== undefined || search.launch !== undefined);

  const change = useAddress<typeof search>();
  const filter: SessionFilter = {
    state: search.state ?? "live",
    q: useDeferredValue(search.q ?? ""),
    owner: search.owner ?? "me",
    project: search.project,
  };
  const list = useInfiniteQuery(sessionsListQuery(filter));
  const { rows: sessions, more } = useRows(list);
  const running = sessions.filter((one) => one.state === "RUNNING").map(idOf);
  useQuery(usageRecentQuery(running.slice(0, 100)));
  const chosen = sessions.filter(selection.has);

  const open = useCallback((session: Session) => change({ session: session.id }), [change]);
  const keepForm = useCallback((form: typeof search.with) => change({ with: form }, true), [change]);
  const launch = useCallback(() => change({ launch: "new" }), [change]);
  const tools = useCallback(
    (session: Session) => <RowTools session={session} actions={actions} />,
    [actions],
  );
  usePageKeys({ onNew: launch, onSearch: () => searchBox.current?.focus(), onHelp: () => setHelpOpen(true) });

  return (
    <div className={styles.page}>
      <ListToolbar
        title={t`Sessions`}
        selected={{
          count: chosen.length,
          onClear: selection.clear,
          actions: (
            <Button size="xs" color="red" variant="light" onClick={() => actions.terminate(chosen)}>
              <Trans>Terminate…</Trans>
            </Button>
          ),
        }}
        tools={
          <>
            <ColumnMenu columns={SESSION_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="sessions" fields={SESSION_FIELDS} all={() => everySession(filter)} />
            <KeyHelpButton onClick={() => setHelpOpen(true)} />
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
          q={search.q}
          filter={filter}
          mayseeAll={me.user.role !== "user"}
          projects={me.projects}
          onChange={(part) => {
            selection.clear();
            change(part, "q" in part);
          }}
        />
      </ListToolbar>
      <DataTable
        label={t`Sessions`}
        rows={sessions}
        rowId={idOf}
        columns={SESSION_COLUMNS}
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
        cells={cells}
        tools={tools}
        toolsWidth="7.25rem"
        minWidth="64rem"
        onNearEnd={more}
        card={(session) => <SessionCard session={session} actions={actions} onOpen={open} />}
        empty={
          <SessionsNothing
            filtered={filter.q !== "" || filter.state !== "live" || filter.project !== undefined}
            onLaunch={launch}
            onClear={() => change({ q: undefined, state: "all", project: undefined })}
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
      <KeyHelp lines={keyLines} opened={helpOpen} onClose={() => setHelpOpen(false)} />
      <Suspense fallback={null}>
        {launched && (
          <LauncherDrawer
            opened={search.launch !== undefined}
            from={launched}
            mount={search.mount}
            link={search.with}
            onLink={keepForm}
            onClose={() => change({ launch: undefined, mount: undefined, with: undefined })}
          />
        )}
        {shown && (
          <DetailDrawer
            opened={search.session !== undefined}
            id={shown}
            tab={search.tab ?? "overview"}
            onTab={(tab) => change({ tab: tab === "overview" ? undefined : tab }, true)}
            onClose={() => change({ session: undefined, tab: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
