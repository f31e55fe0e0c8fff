import { queryOptions } from "@tanstack/react-query";
import { devicesFragmentation, devicesList } from "@/api/generated/sdk.gen";

/** Sessions come and go without an event that names the devices of a node. */
const REFRESHED_MS = 15_000;

/** The devices of all nodes. */
export function devicesListQuery(filter: { family?: string; group?: string }) {
  return queryOptions({
    queryKey: ["nodes", "devices", filter] as const,
    queryFn: async ({ signal }) => (await devicesList({ query: filter, signal })).data,
    refetchInterval: REFRESHED_MS,
    placeholderData: (before) => before,
  });
}

/** How broken up devices are, and which moves of sessions would free some. */
export function fragmentationQuery() {
  return queryOptions({
    queryKey: ["nodes", "fragmentation"] as const,
    queryFn: async ({ signal }) => (await devicesFragmentation({ signal })).data.items,
    refetchInterval: REFRESHED_MS,
  });
}
