import { useMutation, useQueryClient } from "@tanstack/react-query";
import { authLogin, authPasskey } from "@/api/generated/sdk.gen";
import { provePasskey } from "@/api/passkey";
import type { Problem } from "@/api/problem";
import type { Me } from "@/api/types";
import { welcome } from "./auth-welcome";

/** Signs in by password; the answer says what is still missing, if anything. */
export function useLogin() {
  const client = useQueryClient();
  return useMutation<Me, Problem, { email: string; password: string }>({
    mutationFn: async (body) => (await authLogin({ body })).data,
    onSuccess: (me) => welcome(client, me),
  });
}

/** Signs in by a passkey alone. */
export function usePasskeyLogin() {
  const client = useQueryClient();
  return useMutation<Me, Problem, void>({
    mutationFn: async () => (await authPasskey({ body: { credential: await provePasskey() } })).data,
    onSuccess: (me) => welcome(client, me),
  });
}
