import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsRemove } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { untilReached } from "@/api/reach";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { cachedSession, changeSession } from "@/cache/caches";
import { withLaterChanges } from "@/cache/seen";

/** Terminates a session, or cancels it before it runs. Its row says so at once. */
export function useRemoveSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; force: boolean }>({
    mutationFn: async ({ id, force }) => {
      const before = cachedSession(client, id);
      const askedAt = performance.now();
      if (before && !hasEnded(before.state)) changeSession(client, { id, state: "TERMINATING" });
      try {
        const { data } = await untilReached(() => sessionsRemove({ path: { ref: id }, query: { force } }));
        const session = withLaterChanges(data, askedAt);
        changeSession(client, session);
        return session;
      } catch (problem) {
        if (before) changeSession(client, { id, state: before.state, reason: before.reason });
        throw problem;
      }
    },
    onSuccess: (session) => {
      void client.invalidateQueries({ queryKey: ["sessions", "history", session.id] });
    },
  });
}
