import { queryOptions } from "@tanstack/react-query";
import { slotKindsList } from "@/api/generated/sdk.gen";

/** The definitions of accelerator slots, from their plug-ins. */
export function slotKindsQuery() {
  return queryOptions({
    queryKey: ["slot-kinds"] as const,
    queryFn: async ({ signal }) => (await slotKindsList({ signal })).data.items,
    staleTime: 60_000,
  });
}
