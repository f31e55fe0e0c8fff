import { queryOptions } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import {
  environmentsBuild,
  environmentsFetchContext,
  environmentsLog,
  environmentsQuotas,
  environmentsReadContext,
  environmentsRebuild,
  environmentsRecipe,
} from "@/api/generated/sdk.gen";
import { toProblem } from "@/api/problem";
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

/** Of which a failed build says that they are at fault: the source may be mended, and is read again. */
const OF_FILES = ["files", "context"];

/** Builds of one dialog. What the server has read for one is kept, so that the next try takes it again. */
function dialogBuilds() {
  let last: { source: string; context: { context: string; source: string } } | undefined;
  const read = async ({ git, folder }: NewBuild, signal: AbortSignal) => {
    const source = JSON.stringify({ git, folder });
    if (last?.source === source) return last.context;
    const made =
      (git && (await environmentsFetchContext({ body: git, signal })).data) ??
      (folder && (await environmentsReadContext({ body: folder, signal })).data);
    if (!made) return {};
    last = { source, context: { context: made.id, source: made.source } };
    return last.context;
  };
  return async (wanted: NewBuild, signal: AbortSignal): Promise<Environment> => {
    const { git: _git, folder: _folder, ...body } = wanted;
    const context = await read(wanted, signal);
    signal.throwIfAborted();
    try {
      return (await environmentsBuild({ body: { ...body, ...context } })).data;
    } catch (error) {
      if (OF_FILES.includes(toProblem(error).field ?? "")) last = undefined;
      throw error;
    }
  };
}

/** Builds from a dialog; nothing is built any more once it is closed. */
export function useBuildEnvironment() {
  const [build] = useState(dialogBuilds);
  const open = useRef(new AbortController());
  useEffect(() => {
    const opened = new AbortController();
    open.current = opened;
    return () => opened.abort();
  }, []);
  return useChange<NewBuild, Environment>((wanted) => build(wanted, open.current.signal), TOUCHED);
}

export const useRebuild = () =>
  useChange<{ id: string; version: string }, Environment>(
    async ({ id, version }) => (await environmentsRebuild({ path: { ref: id, version }, body: {} })).data,
    TOUCHED,
  );
