import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsAgain, sessionsExtend, sessionsRestart } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { SessionDetail } from "@/api/types";

/** Restarts a session in place. */
export function useRestartSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, string>({
    mutationFn: async (ref) => (await sessionsRestart({ path: { ref } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

/** Sets a longer time limit. */
export function useExtendSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; time_limit_s: number }>({
    mutationFn: async ({ id, time_limit_s }) =>
      (await sessionsExtend({ path: { ref: id }, body: { time_limit_s } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

/** Starts another session with the stored definition of one. */
export function useStartAgain() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, string>({
    mutationFn: async (ref) =>
      (await sessionsAgain({ path: { ref }, headers: { "Idempotency-Key": crypto.randomUUID?.() } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}
