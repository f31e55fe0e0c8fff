import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsPrioritise } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { untilReached } from "@/api/reach";
import type { SessionDetail } from "@/api/types";
import { changeSession } from "@/cache/caches";

/** Lets a waiting session go before or after others. */
export function usePrioritiseSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; priority: number }>({
    mutationFn: async ({ id, priority }) =>
      (await untilReached(() => sessionsPrioritise({ path: { ref: id }, body: { priority } }))).data,
    onSuccess: (session) => {
      changeSession(client, { id: session.id, priority: session.priority });
      for (const key of ["queue", "why", "check"]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
}
