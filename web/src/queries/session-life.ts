import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  sessionsAgain,
  sessionsExtend,
  sessionsHistory,
  sessionsResize,
  sessionsRestart,
  sessionsShow,
} from "@/api/generated/sdk.gen";
import { Problem } from "@/api/problem";
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

const RESIZE = { everyMs: 500, times: 60 };

/** Other amounts of CPU and memory of a container. */
interface Resize {
  id: string;
  container: string;
  cpu: number;
  mem: number;
}

/** Changes the CPU and memory of a running container, and waits until that is done or refused. */
export function useResizeSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, Resize>({
    mutationFn: async ({ id: ref, ...body }) => {
      let session = (await sessionsResize({ path: { ref }, body })).data;
      const one = () => session.containers.find(({ name }) => name === body.container);
      for (let times = 0; one()?.resize && times < RESIZE.times; times++) {
        await new Promise((resolve) => setTimeout(resolve, RESIZE.everyMs));
        session = (await sessionsShow({ path: { ref } })).data;
      }
      const { resize, slots } = one() ?? {};
      if (!resize && (slots?.cpu !== body.cpu || slots?.mem !== body.mem)) {
        const steps = (await sessionsHistory({ path: { ref } })).data.items;
        const reason = steps.findLast(({ cause }) => cause === "resize_refused")?.reason;
        throw new Problem({ status: 409, code: "session.not_resized", detail: reason ?? "" });
      }
      return session;
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

/** Starts another session with the present definition of one. */
export function useStartAgain() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, string>({
    mutationFn: async (ref) =>
      (await sessionsAgain({ path: { ref }, headers: { "Idempotency-Key": crypto.randomUUID?.() } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
}
