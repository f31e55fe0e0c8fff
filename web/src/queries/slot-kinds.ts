import { queryOptions } from "@tanstack/react-query";
import { slotKindsList } from "@/api/generated/sdk.gen";

/** What the slots of accelerators mean, as their plug-ins declared them. */
export function slotKindsQuery() {
  return queryOptions({
    queryKey: ["slot-kinds"] as const,
    queryFn: async ({ signal }) => (await slotKindsList({ signal })).data.items,
    staleTime: 60_000,
  });
}
