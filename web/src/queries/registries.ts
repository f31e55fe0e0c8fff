import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  registriesCancelScan,
  registriesCheck,
  registriesCreate,
  registriesList,
  registriesRemove,
  registriesScan,
  registriesScans,
  registriesShow,
  registriesUpdate,
} from "@/api/generated/sdk.gen";
import type { RegistriesListData } from "@/api/generated/types.gen";
import type { Registry, RegistryCheck, RegistryCreate, RegistryScan, RegistryUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type RegistryFilter = Pick<NonNullable<RegistriesListData["query"]>, "q" | "sort">;

/** Registries, paginated, in server order. */
export function registriesListQuery(filter: RegistryFilter) {
  return infiniteQueryOptions({
    queryKey: ["registries", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await registriesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const everyRegistry = (filter: RegistryFilter) =>
  everyPage((cursor) => registriesList({ query: { ...filter, limit: 200, cursor } }));

/** Registries for select inputs. */
export const registriesChoiceQuery = queryOptions({
  queryKey: ["registries", "choice"] as const,
  queryFn: () => everyRegistry({ sort: "name" }),
});

/** One registry, by id. */
export function registriesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["registries", "show", id] as const,
    queryFn: async ({ signal }) => (await registriesShow({ path: { ref: id }, signal })).data,
  });
}

const TOUCHED = ["registries"];

export const useCreateRegistry = () =>
  useChange<RegistryCreate, Registry>(async (body) => (await registriesCreate({ body })).data, TOUCHED);

/** Updates the given fields of a registry. */
export const useUpdateRegistry = () =>
  useChange<{ id: string } & RegistryUpdate, Registry>(
    async ({ id, ...body }) => (await registriesUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveRegistry = () =>
  useChange<string, unknown>(async (id) => (await registriesRemove({ path: { ref: id } })).data, TOUCHED);

/** Checks a saved registry step by step. */
export const useCheckRegistry = () =>
  useChange<string, RegistryCheck>(async (id) => (await registriesCheck({ path: { ref: id } })).data, []);

/** The latest scan of a registry; null: none in the last 90 days. */
export function latestScanQuery(id: string) {
  return queryOptions({
    queryKey: ["registry-scans", id] as const,
    queryFn: async ({ signal }) =>
      (await registriesScans({ path: { ref: id }, query: { limit: 1 }, signal })).data.items[0] ?? null,
  });
}

const SCANNED = ["registry-scans"];

export const useScanRegistry = () =>
  useChange<string, RegistryScan>(async (id) => (await registriesScan({ path: { ref: id } })).data, SCANNED);

export const useCancelScan = () =>
  useChange<string, RegistryScan>(
    async (id) => (await registriesCancelScan({ path: { ref: id } })).data,
    SCANNED,
  );
