import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  environmentsAnnotate,
  environmentsCancel,
  environmentsCancelPush,
  environmentsList,
  environmentsPush,
  environmentsPushes,
  environmentsPushTargets,
  environmentsRemove,
  environmentsRemoveVersion,
  environmentsShare,
  environmentsShares,
  environmentsShow,
  environmentsUnshare,
  environmentsUpdate,
  sessionsSave,
  sessionsSavePreview,
} from "@/api/generated/sdk.gen";
import type { EnvironmentsListData } from "@/api/generated/types.gen";
import type {
  Environment,
  EnvironmentPush,
  EnvironmentShareCreate,
  EnvironmentUpdate,
  PushRequest,
  SessionSave,
} from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type EnvironmentFilter = Omit<NonNullable<EnvironmentsListData["query"]>, "limit" | "cursor">;

/** Environments that the user may see, paginated, in server order. */
export function environmentsListQuery(filter: EnvironmentFilter) {
  return infiniteQueryOptions({
    queryKey: ["environments", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await environmentsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All environments that match the filter. */
export const everyEnvironment = (filter: EnvironmentFilter) =>
  everyPage((cursor) => environmentsList({ query: { ...filter, limit: 200, cursor } }));

/** Environments for select inputs: those from which the user can start sessions. */
export const environmentsChoiceQuery = queryOptions({
  queryKey: ["environments", "choice"] as const,
  queryFn: () => everyEnvironment({ sort: "name" }),
});

/** One environment with its versions. */
export function environmentsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["environments", "show", id] as const,
    queryFn: async ({ signal }) => (await environmentsShow({ path: { ref: id }, signal })).data,
  });
}

/** With whom an environment is shared. */
export function environmentSharesQuery(id: string) {
  return queryOptions({
    queryKey: ["environments", "shares", id] as const,
    queryFn: async ({ signal }) => (await environmentsShares({ path: { ref: id }, signal })).data.items,
  });
}

/** The pushes of an environment to registries, the latest first. */
export function environmentPushesQuery(id: string) {
  return queryOptions({
    queryKey: ["environments", "pushes", id] as const,
    queryFn: async ({ signal }) =>
      (await environmentsPushes({ path: { ref: id }, query: { limit: 20 }, signal })).data.items,
  });
}

/** The registries to which the user may push versions of an environment. */
export function environmentPushTargetsQuery(id: string) {
  return queryOptions({
    queryKey: ["environments", "push-targets", id] as const,
    queryFn: async ({ signal }) => (await environmentsPushTargets({ path: { ref: id }, signal })).data,
  });
}

/** What an image of a session has and lacks. */
export function savePreviewQuery(session: string) {
  return queryOptions({
    queryKey: ["sessions", "save", session] as const,
    queryFn: async ({ signal }) => (await sessionsSavePreview({ path: { ref: session }, signal })).data,
  });
}

const TOUCHED = ["environments"];

export const useSaveSession = () =>
  useChange<{ session: string } & SessionSave, Environment>(
    async ({ session, ...body }) => (await sessionsSave({ path: { ref: session }, body })).data,
    TOUCHED,
  );

export const useUpdateEnvironment = () =>
  useChange<{ id: string } & EnvironmentUpdate, Environment>(
    async ({ id, ...body }) => (await environmentsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useAnnotateVersion = () =>
  useChange<{ id: string; version: string; note: string }, Environment>(
    async ({ id, version, note }) =>
      (await environmentsAnnotate({ path: { ref: id, version }, body: { note } })).data,
    TOUCHED,
  );

export const useCancelVersion = () =>
  useChange<{ id: string; version: string }, unknown>(
    async ({ id, version }) => (await environmentsCancel({ path: { ref: id, version } })).data,
    TOUCHED,
  );

export const usePushVersion = () =>
  useChange<{ id: string; version: string } & PushRequest, EnvironmentPush>(
    async ({ id, version, ...body }) => (await environmentsPush({ path: { ref: id, version }, body })).data,
    TOUCHED,
  );

export const useCancelPush = () =>
  useChange<{ id: string; push: string }, EnvironmentPush>(
    async ({ id, push }) => (await environmentsCancelPush({ path: { ref: id, push } })).data,
    TOUCHED,
  );

/** Deletes one version, or the environment with all of them. */
export const useRemoveEnvironment = () =>
  useChange<{ id: string; version?: string }, unknown>(
    async ({ id, version }) =>
      version === undefined
        ? (await environmentsRemove({ path: { ref: id } })).data
        : (await environmentsRemoveVersion({ path: { ref: id, version } })).data,
    TOUCHED,
  );

/** Shares an environment, once for each request; stops at the first that fails. */
export const useShareEnvironment = () =>
  useChange<{ id: string; requests: EnvironmentShareCreate[] }, void>(async ({ id, requests }) => {
    for (const body of requests) await environmentsShare({ path: { ref: id }, body });
  }, TOUCHED);

export const useUnshareEnvironment = () =>
  useChange<{ id: string; share: string }, unknown>(
    async ({ id, share }) => (await environmentsUnshare({ path: { ref: id, share } })).data,
    TOUCHED,
  );
