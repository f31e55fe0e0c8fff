import { queryOptions } from "@tanstack/react-query";
import {
  environmentsBuild,
  environmentsLog,
  environmentsQuotas,
  environmentsRebuild,
  environmentsRecipe,
} from "@/api/generated/sdk.gen";
import type { Environment, EnvironmentBuild } from "@/api/types";
import { useChange } from "./use-change";

const AGAIN_MS = 1000;

/** The log of a build; asked for again until it is complete. */
export function buildLogQuery(id: string, version: string) {
  return queryOptions({
    queryKey: ["environments", "log", id, version] as const,
    queryFn: async ({ signal }) => {
      let text = "";
      let after = 0;
      for (;;) {
        const path = { ref: id, version };
        const part = (await environmentsLog({ path, query: { after }, signal })).data;
        text += part.text;
        if (part.complete || part.next === after) return { text, complete: part.complete };
        after = part.next;
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

export const useBuildEnvironment = () =>
  useChange<EnvironmentBuild, Environment>(async (body) => (await environmentsBuild({ body })).data, TOUCHED);

export const useRebuild = () =>
  useChange<{ id: string; version: string }, Environment>(
    async ({ id, version }) => (await environmentsRebuild({ path: { ref: id, version }, body: {} })).data,
    TOUCHED,
  );
