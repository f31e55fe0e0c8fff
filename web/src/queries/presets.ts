import { queryOptions } from "@tanstack/react-query";
import { presetsCreate, presetsList, presetsRemove, presetsUpdate } from "@/api/generated/sdk.gen";
import type { Preset, PresetCreate, PresetUpdate } from "@/api/types";
import { useChange } from "./use-change";

/**
 * The presets of the resource groups that the user may use; with `group`, those of that group and of all
 * groups.
 */
export function presetsListQuery(group: string | undefined) {
  return queryOptions({
    queryKey: ["presets", "list", group ?? null] as const,
    queryFn: async ({ signal }) => (await presetsList({ query: { group }, signal })).data.items,
  });
}

const TOUCHED = ["presets", "check"];

export const useCreatePreset = () =>
  useChange<PresetCreate, Preset>(async (body) => (await presetsCreate({ body })).data, TOUCHED);

/** Updates the given fields of a preset. */
export const useUpdatePreset = () =>
  useChange<{ id: string } & PresetUpdate, Preset>(
    async ({ id, ...body }) => (await presetsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemovePreset = () =>
  useChange<string, unknown>(async (id) => (await presetsRemove({ path: { ref: id } })).data, TOUCHED);
