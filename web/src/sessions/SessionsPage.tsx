import { useLingui } from "@lingui/react/macro";
import { useMediaQuery } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { RowSelectionState } from "@tanstack/react-table";
import { Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import { part } from "@/app/part";
import type { SessionsSearch } from "@/app/search";
import type { SessionFilter } from "@/live/patch";
import { sessionsListQuery } from "@/queries/sessions-list";
import { usageRecentQuery } from "@/queries/usage-recent";
import { useMe } from "@/shell/use-me";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { KeyHelp } from "./KeyHelp";
import { SessionCards } from "./SessionCards";
import { SessionsFoot } from "./SessionsFoot";
import { SessionsNothing } from "./SessionsNothing";
import styles from "./SessionsPage.module.css";
import { SessionTable } from "./SessionTable";
import { SessionToolbar } from "./SessionToolbar";
import { useSessionActions } from "./use-actions";
import { useColumnChoice } from "./use-column-choice";
import { usePageKeys } from "./use-page-keys";

const LauncherDrawer = part(() => import("@/launcher/LauncherDrawer").then((m) => m.LauncherDrawer));
const DetailDrawer = part(() => import("@/detail/DetailDrawer").then((m) => m.DetailDrawer));

const route = getRouteApi("/shell/sessions");

/** The list of sessions with its drawers. What is shown is said by the address alone. */
export function SessionsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/sessions" });
  const me = useMe();
  const actions = useSessionActions();
  const phone = useMediaQuery("(max-width: 47.99em)", undefined, { getInitialValueInEffect: false });
  const searchBox = useRef<HTMLInputElement>(null);
  const [selected, setSelected] = useState<RowSelectionState>({});
  const [helpOpen, setHelpOpen] = useState(false);
  const [visible, setVisible] = useColumnChoice();
  const launched = useLast(search.launch);
  const shown = useLast(search.session);
  usePageTitle(t`Sessions`);
  useReturnFocus(search.session !== undefined || search.launch !== undefined);

  const change = useCallback(
    (part: Partial<SessionsSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const filter: SessionFilter = {
    state: search.state ?? "live",
    q: useDeferredValue(search.q ?? ""),
    owner: search.owner ?? "me",
  };
  const list = useInfiniteQuery(sessionsListQuery(filter));
  const sessions = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items), [list.data]);
  const running = sessions.filter((one) => one.state === "RUNNING").map((one) => one.id);
  useQuery(usageRecentQuery(running.slice(0, 100)));
  const chosen = sessions.filter((one) => selected[one.id]);

  const open = useCallback((id: string) => change({ session: id }), [change]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const nearEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const launch = useCallback(() => change({ launch: "new" }), [change]);
  usePageKeys({ onNew: launch, onSearch: () => searchBox.current?.focus(), onHelp: () => setHelpOpen(true) });

  const empty = list.isSuccess && sessions.length === 0;
  return (
    <div className={styles.page}>
      <SessionToolbar
        ref={searchBox}
        search={search}
        filter={filter}
        mayseeAll={me.user.role !== "user"}
        chosen={chosen}
        columns={visible}
        onColumns={setVisible}
        onChange={(part) => {
          setSelected({});
          change(part, "q" in part);
        }}
        onLaunch={launch}
        onTerminate={() => actions.terminate(chosen)}
        onHelp={() => setHelpOpen(true)}
        onUnselect={() => setSelected({})}
      />
      {list.isError || empty ? (
        <SessionsNothing
          problem={list.error}
          filtered={filter.q !== "" || filter.state !== "live"}
          onRetry={() => void list.refetch()}
          onLaunch={launch}
          onClear={() => change({ q: undefined, state: "all" })}
        />
      ) : phone ? (
        <SessionCards sessions={sessions} loading={list.isPending} actions={actions} onOpen={open} />
      ) : (
        <SessionTable
          label={t`Sessions`}
          sessions={sessions}
          loading={list.isPending}
          visible={visible}
          opened={search.session}
          sort={search.sort}
          order={search.order}
          onSort={(sort, order) => change({ sort, order })}
          selected={selected}
          onSelected={setSelected}
          actions={actions}
          onOpen={open}
          onNearEnd={nearEnd}
        />
      )}
      <SessionsFoot
        count={sessions.length}
        more={list.hasNextPage}
        loading={list.isFetchingNextPage}
        sorted={search.sort !== undefined}
        onMore={() => void list.fetchNextPage()}
      />
      <KeyHelp opened={helpOpen} onClose={() => setHelpOpen(false)} />
      <Suspense fallback={null}>
        {launched && (
          <LauncherDrawer
            opened={search.launch !== undefined}
            from={launched}
            onClose={() => change({ launch: undefined })}
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
