import { queryOptions } from "@tanstack/react-query";
import { maintenanceChecks, maintenanceConsistency, maintenanceInformation } from "@/api/generated/sdk.gen";

export const informationQuery = queryOptions({
  queryKey: ["maintenance", "information"] as const,
  queryFn: async ({ signal }) => (await maintenanceInformation({ signal })).data,
  staleTime: 60_000,
});

/** Runs all checks. */
export const checksQuery = queryOptions({
  queryKey: ["maintenance", "checks"] as const,
  queryFn: async ({ signal }) => (await maintenanceChecks({ signal })).data.items,
  staleTime: 0,
});

/** Compares the ledger with all engines. */
export const consistencyQuery = queryOptions({
  queryKey: ["maintenance", "consistency"] as const,
  queryFn: async ({ signal }) => (await maintenanceConsistency({ signal })).data,
  staleTime: 0,
});
