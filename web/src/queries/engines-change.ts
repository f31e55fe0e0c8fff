import { enginesCheck, enginesCreate, enginesRemove, enginesUpdate } from "@/api/generated/sdk.gen";
import type { Engine, EngineCheck, EngineCreate, EngineUpdate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["engines", "nodes"];

export const useCreateEngine = () =>
  useChange<EngineCreate, Engine>(async (body) => (await enginesCreate({ body })).data, TOUCHED);

/** Changes what is given of an engine. */
export const useUpdateEngine = () =>
  useChange<{ id: string } & EngineUpdate, Engine>(
    async ({ id, ...body }) => (await enginesUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveEngine = () =>
  useChange<string, unknown>(async (id) => (await enginesRemove({ path: { ref: id } })).data, TOUCHED);

/** Asks an engine whether it answers. */
export const useCheckEngine = () =>
  useChange<string, EngineCheck>(async (id) => (await enginesCheck({ path: { ref: id } })).data, []);
