import { useMutation, useQueryClient } from "@tanstack/react-query";
import { passwordUpdate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Me } from "@/api/types";
import { welcome } from "./auth-welcome";
import { loginsListQuery } from "./logins-list";

/** Changes one's password; the other browsers are signed out. */
export function useChangePassword() {
  const client = useQueryClient();
  return useMutation<Me, Problem, { current: string; new: string }>({
    mutationFn: async (body) => (await passwordUpdate({ body })).data,
    onSuccess: (me) => {
      welcome(client, me);
      void client.invalidateQueries({ queryKey: loginsListQuery.queryKey });
    },
  });
}
