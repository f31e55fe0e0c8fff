import { queryOptions } from "@tanstack/react-query";
import { engineKindsList, enginesList } from "@/api/generated/sdk.gen";

/** The engines, without their secrets. */
export const enginesListQuery = queryOptions({
  queryKey: ["engines", "list"] as const,
  queryFn: async ({ signal }) => (await enginesList({ signal })).data.items,
});

/** The kinds of engines that can be added, with the schema of the settings of each. */
export const engineKindsQuery = queryOptions({
  queryKey: ["engine-kinds"] as const,
  queryFn: async ({ signal }) => (await engineKindsList({ signal })).data.items,
  staleTime: Number.POSITIVE_INFINITY,
});
