import { queryOptions } from "@tanstack/react-query";
import {
  engineKindsList,
  enginesCheck,
  enginesCheckSettings,
  enginesCreate,
  enginesList,
  enginesRemove,
  enginesUpdate,
} from "@/api/generated/sdk.gen";
import type { Engine, EngineCheck, EngineCreate, EngineSettings, EngineUpdate } from "@/api/types";
import { useChange } from "./use-change";

/** The engines, without their secrets. */
export const enginesListQuery = queryOptions({
  queryKey: ["engines", "list"] as const,
  queryFn: async ({ signal }) => (await enginesList({ signal })).data.items,
});

/** The available engine kinds, with their settings schemas. */
export const engineKindsQuery = queryOptions({
  queryKey: ["engine-kinds"] as const,
  queryFn: async ({ signal }) => (await engineKindsList({ signal })).data.items,
  staleTime: Number.POSITIVE_INFINITY,
});

const TOUCHED = ["engines", "nodes"];

export const useCreateEngine = () =>
  useChange<EngineCreate, Engine>(async (body) => (await enginesCreate({ body })).data, TOUCHED);

/** Updates the given fields of an engine. */
export const useUpdateEngine = () =>
  useChange<{ id: string } & EngineUpdate, Engine>(
    async ({ id, ...body }) => (await enginesUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveEngine = () =>
  useChange<string, unknown>(async (id) => (await enginesRemove({ path: { ref: id } })).data, TOUCHED);

/** Checks whether an engine responds. */
export const useCheckEngine = () =>
  useChange<string, EngineCheck>(async (id) => (await enginesCheck({ path: { ref: id } })).data, []);

/** Checks settings before an engine is added. */
export const useCheckSettings = () =>
  useChange<EngineSettings, EngineCheck>(async (body) => (await enginesCheckSettings({ body })).data, []);
