import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsExempt, sessionsIdle, sessionsKeep } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { untilReached } from "@/api/reach";
import type { Idle } from "@/api/types";
import { changeSession } from "@/cache/caches";

const OFTEN_MS = 30_000;

/** What would end a running session by itself, and how much time it has left by each rule. */
export function sessionsIdleQuery(id: string) {
  return queryOptions({
    queryKey: ["sessions", "idle", id] as const,
    queryFn: async ({ signal }) => (await sessionsIdle({ path: { ref: id }, signal })).data,
    refetchInterval: OFTEN_MS,
  });
}

/** Says that a session is in use although it looks idle; or, for administrators, that it always is, or no longer. */
export function useKeepSession() {
  const client = useQueryClient();
  return useMutation<Idle, Problem, { id: string; exempt?: boolean }>({
    mutationFn: async ({ id, exempt }) => {
      const path = { ref: id };
      const ask = () =>
        exempt === undefined ? sessionsKeep({ path }) : sessionsExempt({ path, body: { exempt } });
      return (await untilReached(ask)).data;
    },
    onSuccess: (idle) => {
      changeSession(client, { id: idle.session, idle_ends_at: idle.idle_ends_at });
      client.setQueryData(sessionsIdleQuery(idle.session).queryKey, idle);
    },
  });
}
