import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import {
  sessionsCheck,
  sessionsCounts,
  sessionsCreate,
  sessionsExempt,
  sessionsGraph,
  sessionsHistory,
  sessionsIdle,
  sessionsKeep,
  sessionsList,
  sessionsPrioritise,
  sessionsRemove,
  sessionsRename,
  sessionsShow,
  sessionsTimeline,
  sessionsUsage,
  sessionsWhy,
} from "@/api/generated/sdk.gen";
import type { SessionsCreateData } from "@/api/generated/types.gen";
import type { Problem } from "@/api/problem";
import { retryWhileUnreachable } from "@/api/retry";
import { hasEnded } from "@/api/session-states";
import type { CheckRequest, Idle, Me, Session, SessionCreate, SessionDetail } from "@/api/types";
import { cachedSession, changeSession, dropSession, putSession } from "@/cache/caches";
import { withLaterChanges } from "@/cache/later-changes";
import type { SessionFilter, SessionPage } from "@/cache/patch";
import { everyPage } from "./every-page";

const PAGE = 50;

const parameters = <F extends { q: string }>({ q, ...filter }: F) => ({ ...filter, q: q || undefined });

/** Sessions, newest first, paginated. */
export function sessionsListQuery(filter: SessionFilter) {
  return infiniteQueryOptions({
    queryKey: ["sessions", "list", filter] as const,
    queryFn: async ({ pageParam, signal }): Promise<SessionPage> => {
      const requestedAt = performance.now();
      const { data } = await sessionsList({
        query: { ...parameters(filter), limit: PAGE, cursor: pageParam ?? undefined },
        signal,
      });
      return {
        items: data.items.map((item) => withLaterChanges(item, requestedAt)),
        next_cursor: data.next_cursor ?? null,
      };
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** How many rows the list has by type, whatever type the filter has. */
export function sessionCountsQuery({ kind: _, array: __, ...filter }: SessionFilter) {
  return queryOptions({
    queryKey: ["session-counts", filter] as const,
    queryFn: async ({ signal }) => (await sessionsCounts({ query: parameters(filter), signal })).data,
    placeholderData: keepPreviousData,
  });
}

/** One session with its environment and apps; `id` may be a unique prefix or a name too. */
export function sessionsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "show", id] as const,
    queryFn: async ({ signal }) => {
      const requestedAt = performance.now();
      const { data } = await sessionsShow({ path: { ref: id }, signal });
      return withLaterChanges(data, requestedAt);
    },
  });
}

/** All sessions that match the filter, newest first. */
export const everySession = (filter: SessionFilter): Promise<Session[]> =>
  everyPage((cursor) => sessionsList({ query: { ...parameters(filter), limit: 200, cursor } }));

/**
 * The estimate for a request, and the free capacity. Keeps the previous response until the next one arrives.
 */
export function sessionsCheckQuery(request: CheckRequest) {
  return queryOptions({
    queryKey: ["check", request] as const,
    queryFn: async ({ signal }) => (await sessionsCheck({ body: request, signal })).data,
    placeholderData: keepPreviousData,
    gcTime: 60_000,
  });
}

/** Create requests in flight; an event about an unknown session waits for them. */
export const pendingCreates = new Set<Promise<unknown>>();

/** Id prefix of placeholder rows for create requests in flight. */
const REQUESTED = "requested:";
export const isRequested = (id: string): boolean => id.startsWith(REQUESTED);

/** What a session records or replaces. */
type Origin = NonNullable<SessionsCreateData["query"]>;

/** Creates a session. Adds its row optimistically, and corrects or removes it after the response. */
export function useCreateSession(origin?: Pick<Origin, "template" | "template_revision">) {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, SessionCreate>({
    mutationFn: (request) => createSession(client, request, origin),
    onSuccess: (session) => {
      client.setQueryData(["sessions", "show", session.id], session);
      void client.invalidateQueries({ queryKey: ["resources", "show"] });
    },
  });
}

async function createSession(
  client: QueryClient,
  request: SessionCreate,
  query?: Origin,
): Promise<SessionDetail> {
  const me = client.getQueryData<Me>(["auth", "me"]);
  const key =
    crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-");
  const requestedAt = performance.now();
  const sent = retryWhileUnreachable(() =>
    sessionsCreate({ body: request, query, headers: { "Idempotency-Key": key } }),
  );
  pendingCreates.add(sent);
  const requestedId = REQUESTED + key;
  if (me) putSession(client, requestedRow(request, me, requestedId), me.user.id);
  try {
    const session = withLaterChanges((await sent).data, requestedAt);
    dropSession(client, requestedId);
    if (me) putSession(client, session, me.user.id);
    return session;
  } catch (problem) {
    dropSession(client, requestedId);
    throw problem;
  } finally {
    pendingCreates.delete(sent);
  }
}

function requestedRow(request: SessionCreate, me: Me, id: string): Session {
  const project = me.projects.find((one) => one.id === request.project || one.name === request.project);
  return {
    id,
    name: request.name ?? "…",
    kind: request.kind ?? "interactive",
    result: null,
    state: "PENDING",
    reason: null,
    progress: null,
    image: request.image,
    image_name: null,
    domain: me.user.domain,
    project: project ?? me.projects[0] ?? { id: "", name: "" },
    owner: { id: me.user.id, email: me.user.email },
    group: { id: request.group ?? "default", name: request.group ?? "default" },
    priority: request.priority ?? 50,
    time_limit_s: request.time_limit_s ?? null,
    slots: request.slots,
    cluster_size: request.containers ?? 1,
    node: null,
    warnings: [],
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    queue_position: null,
    idle_ends_at: null,
    limit_ends_at: null,
    array_id: null,
    array_index: null,
    array: null,
    shared_as: null,
  };
}

/** Every transition of a session with its time, cause and actor, oldest first. */
export function sessionsHistoryQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "history", id] as const,
    queryFn: async ({ signal }) => (await sessionsHistory({ path: { ref: id }, signal })).data.items,
  });
}

/** The steps of the last start of a session, with their times. */
export function sessionsTimelineQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "timeline", id] as const,
    queryFn: async ({ signal }) => (await sessionsTimeline({ path: { ref: id }, signal })).data,
  });
}

/** The sessions that a session starts after and those that start after it, directly or not. */
export function sessionsGraphQuery(id: string) {
  return queryOptions({
    queryKey: ["session-graph", id] as const,
    queryFn: async ({ signal }) => (await sessionsGraph({ path: { ref: id }, signal })).data,
  });
}

const OFTEN_MS = 30_000;

/** The idle checks of a running session, with the remaining time of each. */
export function sessionsIdleQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "idle", id] as const,
    queryFn: async ({ signal }) => (await sessionsIdle({ path: { ref: id }, signal })).data,
    refetchInterval: OFTEN_MS,
  });
}

/** Marks a session as in use although it looks idle; or, for administrators, sets or clears its exemption. */
export function useKeepSession() {
  const client = useQueryClient();
  return useMutation<Idle, Problem, { id: string; exempt?: boolean }>({
    mutationFn: async ({ id, exempt }) => {
      const path = { ref: id };
      const ask = () =>
        exempt === undefined ? sessionsKeep({ path }) : sessionsExempt({ path, body: { exempt } });
      return (await retryWhileUnreachable(ask)).data;
    },
    onSuccess: (idle) => {
      changeSession(client, { id: idle.session, idle_ends_at: idle.idle_ends_at });
      client.setQueryData(sessionsIdleQuery(idle.session).queryKey, idle);
    },
  });
}

/** Changes the priority of a pending session, or of the pending ones of its array. */
export function usePrioritiseSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; priority: number; array?: boolean }>({
    mutationFn: async ({ id, priority, array }) => {
      const path = { ref: id };
      const ask = () => sessionsPrioritise({ path, query: { array }, body: { priority } });
      return (await retryWhileUnreachable(ask)).data;
    },
    onSuccess: (session) => {
      changeSession(client, { id: session.id, priority: session.priority });
      for (const key of ["queue", "why", "check"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
}

/** Cancels a pending session and requests another one in its place, both or neither. */
export function useReplaceSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; request: SessionCreate }>({
    mutationFn: ({ id, request }) => createSession(client, request, { replaces: id }),
    onSuccess: (session) => client.setQueryData(["sessions", "show", session.id], session),
  });
}

interface Removal {
  id: string;
  force: boolean;
  array?: boolean;
  signal?: SessionDetail["stop_signal"];
  grace_s?: number;
}

/** Terminates or cancels a session, or all of its array. Updates its row optimistically. */
export function useRemoveSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, Removal>({
    mutationFn: async ({ id, ...query }) => {
      const before = cachedSession(client, id);
      const requestedAt = performance.now();
      if (before && !hasEnded(before.state)) changeSession(client, { id, state: "TERMINATING" });
      try {
        const { data } = await retryWhileUnreachable(() => sessionsRemove({ path: { ref: id }, query }));
        const session = withLaterChanges(data, requestedAt);
        changeSession(client, session);
        return session;
      } catch (problem) {
        if (before) changeSession(client, { id, state: before.state, reason: before.reason });
        throw problem;
      }
    },
    onSuccess: (session) => {
      void client.invalidateQueries({ queryKey: ["sessions", "history", session.id] });
    },
  });
}

/** Renames a session. */
export function useRenameSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; name: string }>({
    mutationFn: async ({ id, name }) =>
      (await retryWhileUnreachable(() => sessionsRename({ path: { ref: id }, body: { name } }))).data,
    onSuccess: (session) => changeSession(client, { id: session.id, name: session.name }),
  });
}

/** The last minutes, or a period in Unix seconds. */
export type UsagePeriod = { minutes: number } | { from: number; to: number };

/** The usage of each container of a session over a period; of about 400 points. */
export function sessionsUsageQuery(id: string, period: UsagePeriod) {
  const query =
    "minutes" in period
      ? period
      : {
          from: new Date(period.from * 1000).toISOString(),
          to: new Date(period.to * 1000).toISOString(),
        };
  return queryOptions({
    queryKey: ["sessions", "usage", id, query] as const,
    queryFn: async ({ signal }) => (await sessionsUsage({ path: { ref: id }, query, signal })).data,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
}

/** Why a session is pending, what would start it now, and its forecast if known. */
export function sessionsWhyQuery(id: string) {
  return queryOptions({
    queryKey: ["why", id] as const,
    queryFn: async ({ signal }) => (await sessionsWhy({ path: { ref: id }, signal })).data,
  });
}
