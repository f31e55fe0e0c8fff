import { queryOptions } from "@tanstack/react-query";
import {
  environmentsBuild,
  environmentsFetchContext,
  environmentsLog,
  environmentsQuotas,
  environmentsReadContext,
  environmentsRebuild,
  environmentsRecipe,
} from "@/api/generated/sdk.gen";
import type {
  Environment,
  EnvironmentBuild,
  EnvironmentVersion,
  FolderContext,
  GitContext,
} from "@/api/types";
import { useChange } from "./use-change";

const AGAIN_MS = 1000;

interface BuildLog {
  text: string;
  next: number;
  complete: boolean;
}

/** The log of a build; what follows is asked for until it is complete. */
export function buildLogQuery({ id, environment_id, name }: EnvironmentVersion) {
  const queryKey = ["environments", "log", id] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      let log = client.getQueryData<BuildLog>(queryKey) ?? { text: "", next: 0, complete: false };
      const path = { ref: environment_id, version: name };
      for (;;) {
        const part = (await environmentsLog({ path, query: { after: log.next }, signal })).data;
        const more = part.next > log.next;
        log = { text: log.text + part.text, next: part.next, complete: part.complete };
        if (log.complete || !more) return log;
      }
    },
    refetchInterval: ({ state }) => (state.data && !state.data.complete ? AGAIN_MS : false),
  });
}

/** What a version was built from. */
export function buildRecipeQuery(id: string, version: string) {
  return queryOptions({
    queryKey: ["environments", "recipe", id, version] as const,
    queryFn: async ({ signal }) => (await environmentsRecipe({ path: { ref: id, version }, signal })).data,
  });
}

/** How much the environments of the user and their projects take. */
export const environmentQuotasQuery = queryOptions({
  queryKey: ["environments", "quotas"] as const,
  queryFn: async ({ signal }) => (await environmentsQuotas({ signal })).data.items,
});

const TOUCHED = ["environments"];

/** A build of files that are sent with it, or of a context that the server reads first. */
export interface NewBuild extends EnvironmentBuild {
  git?: GitContext;
  folder?: FolderContext;
}

export const useBuildEnvironment = () =>
  useChange<NewBuild, Environment>(async ({ git, folder, ...body }) => {
    const read =
      (git && (await environmentsFetchContext({ body: git })).data) ??
      (folder && (await environmentsReadContext({ body: folder })).data);
    const context = read && { context: read.id, source: read.source };
    return (await environmentsBuild({ body: { ...body, ...context } })).data;
  }, TOUCHED);

export const useRebuild = () =>
  useChange<{ id: string; version: string }, Environment>(
    async ({ id, version }) => (await environmentsRebuild({ path: { ref: id, version }, body: {} })).data,
    TOUCHED,
  );
