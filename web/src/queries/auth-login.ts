import { useMutation, useQueryClient } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import { authLogin } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Me } from "@/api/types";

/** Signs in; the cookie and the token against forged requests come with the answer. */
export function useLogin() {
  const client = useQueryClient();
  return useMutation<Me, Problem, { email: string; password: string }>({
    mutationFn: async (body) => (await authLogin({ body })).data,
    onSuccess: (me) => {
      client.clear();
      rememberCsrfToken(me.csrf_token ?? null);
      client.setQueryData(["auth", "me"], me);
    },
  });
}
