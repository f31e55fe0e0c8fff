import { useMutation, useQueryClient } from "@tanstack/react-query";
import { loginsRemove, loginsRemoveAll } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { loginsListQuery } from "./logins-list";

/** Signs one browser out. */
export function useEndLogin() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (login) => {
      await loginsRemove({ path: { login } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: loginsListQuery.queryKey }),
  });
}

/** Signs the person out everywhere else; gives in how many places. */
export function useEndOtherLogins() {
  const client = useQueryClient();
  return useMutation<number, Problem, void>({
    mutationFn: async () => (await loginsRemoveAll()).data.ended,
    onSuccess: () => client.invalidateQueries({ queryKey: loginsListQuery.queryKey }),
  });
}
