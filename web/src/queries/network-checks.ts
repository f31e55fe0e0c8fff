import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsCheckNetwork, sessionsNetworkCheck } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NetworkCheck } from "@/api/types";

const RUNNING_MS = 3000;

/** The last check of a session's network, and whether one goes on. */
export function networkCheckQuery(id: string) {
  return queryOptions({
    queryKey: ["network-check", id] as const,
    queryFn: async ({ signal }) => (await sessionsNetworkCheck({ path: { ref: id }, signal })).data,
    refetchInterval: ({ state }) => (state.data?.running ? RUNNING_MS : false),
  });
}

/** Measures the network of a session; it takes at most a minute. */
export function useCheckNetwork(id: string) {
  const client = useQueryClient();
  return useMutation<NetworkCheck, Problem, void>({
    mutationFn: async () => (await sessionsCheckNetwork({ path: { ref: id } })).data,
    onSettled: () => client.invalidateQueries({ queryKey: networkCheckQuery(id).queryKey }),
  });
}
