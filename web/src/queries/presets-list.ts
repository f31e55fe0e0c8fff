import { queryOptions } from "@tanstack/react-query";
import { presetsList } from "@/api/generated/sdk.gen";

/** Every preset of the resource groups that the person may use; of one group and of all, if it is given. */
export function presetsListQuery(group: string | undefined) {
  return queryOptions({
    queryKey: ["presets", "list", group ?? null] as const,
    queryFn: async ({ signal }) => (await presetsList({ query: { group }, signal })).data.items,
  });
}
