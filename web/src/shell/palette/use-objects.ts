import { useLingui } from "@lingui/react/macro";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Me } from "@/api/types";
import { useSessionActions } from "@/features/sessions/use-actions";
import { may, mayBeyondOwn } from "@/me/may";
import { useNodesShown } from "@/me/use-nodes-shown";
import { foldersListQuery } from "@/queries/folders";
import { groupsListQuery } from "@/queries/groups";
import { nodesListQuery } from "@/queries/nodes";
import { projectsListQuery } from "@/queries/projects";
import { sessionsListQuery } from "@/queries/sessions";
import { usersListQuery } from "@/queries/users";
import type { PaletteEntry } from "./entry";
import { nameIn } from "./match";
import {
  COMMAND_WORDS,
  folderEntry,
  groupEntry,
  nodeEntries,
  projectEntry,
  sessionEntries,
  userEntry,
} from "./objects";

/** Earlier results stay while the next ones load. */
const CALM = { retry: false, placeholderData: keepPreviousData } as const;

const rowsOf = <T>(list: { data?: { pages: { items: T[] }[] } }): T[] =>
  (list.data?.pages ?? []).flatMap((page) => page.items);

/**
 * The objects whose names the query may mean, of the kinds that the user may list; without a query their own
 * live sessions. `loading` while any list of them is on its way.
 */
export function useObjects(me: Me, query: string): { entries: PaletteEntry[]; loading: boolean } {
  const { i18n } = useLingui();
  const { jupyterIn } = useSessionActions();
  const searched = query.trim() !== "";
  const q = nameIn(query, COMMAND_WORDS) || undefined;
  const owner = searched && mayBeyondOwn(me, "session.read") ? "all" : "me";
  const nodesShown = useNodesShown() || may(me, "node.update");
  const on = (shown: boolean) => ({ enabled: searched && shown, ...CALM });
  const sessions = useInfiniteQuery({
    ...sessionsListQuery({ state: searched ? "all" : "live", q: q ?? "", owner }),
    ...CALM,
  });
  const nodes = useInfiniteQuery({ ...nodesListQuery({ q }), ...on(nodesShown) });
  const users = useInfiniteQuery({ ...usersListQuery({ q }), ...on(mayBeyondOwn(me, "user.read")) });
  const projects = useInfiniteQuery({
    ...projectsListQuery({ q, archived: false }),
    ...on(may(me, "project.read")),
  });
  const groups = useInfiniteQuery({ ...groupsListQuery({ q }), ...on(may(me, "node.update")) });
  const folders = useInfiniteQuery({
    ...foldersListQuery({ of: "me", q }),
    ...on(may(me, "vfolder.read")),
  });
  const lists = [sessions, nodes, users, projects, groups, folders];
  const data = lists.map((list) => list.data);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lists change with their data only
  const entries = useMemo(
    () => [
      ...rowsOf(sessions).flatMap((one) => sessionEntries(one, jupyterIn(one), me, i18n)),
      ...rowsOf(nodes).flatMap((node) => nodeEntries(node, me, i18n)),
      ...rowsOf(users).map(userEntry),
      ...rowsOf(projects).map(projectEntry),
      ...rowsOf(groups).map(groupEntry),
      ...rowsOf(folders).map(folderEntry),
    ],
    [...data, jupyterIn, me, i18n, i18n.locale],
  );
  return {
    entries,
    loading: lists.some((list) => list.isFetching && (!list.data || list.isPlaceholderData)),
  };
}
