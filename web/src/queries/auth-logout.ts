import { useMutation, useQueryClient } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import { authLogout } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";

/** Signs out and forgets everything this page knew. */
export function useLogout() {
  const client = useQueryClient();
  return useMutation<void, Problem, void>({
    mutationFn: async () => {
      await authLogout();
    },
    onSuccess: () => {
      rememberCsrfToken(null);
      client.clear();
    },
  });
}
