import { queryOptions } from "@tanstack/react-query";
import { providersList } from "@/api/generated/sdk.gen";

/** The identity providers, without their secrets. */
export const providersListQuery = queryOptions({
  queryKey: ["providers", "list"] as const,
  queryFn: async ({ signal }) => (await providersList({ signal })).data.items,
});
