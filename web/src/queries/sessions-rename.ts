import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsRename } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { untilReached } from "@/api/reach";
import type { SessionDetail } from "@/api/types";
import { changeSession } from "@/cache/caches";

/** Gives a session another name. */
export function useRenameSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, { id: string; name: string }>({
    mutationFn: async ({ id, name }) =>
      (await untilReached(() => sessionsRename({ path: { ref: id }, body: { name } }))).data,
    onSuccess: (session) => changeSession(client, { id: session.id, name: session.name }),
  });
}
