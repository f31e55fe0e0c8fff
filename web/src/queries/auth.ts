import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import {
  authConfirm,
  authFactor,
  authForgot,
  authGreeting,
  authLogin,
  authLogout,
  authMe,
  authPasskey,
  authReset,
  authSignUp,
  authVerify,
  authVerifyAgain,
} from "@/api/generated/sdk.gen";
import { provePasskey } from "@/api/passkey";
import type { Problem } from "@/api/problem";
import type { Evidence, Me } from "@/api/types";

/** Public information before sign-in: password rules, providers, the announcement. */
export const signInOptionsQuery = queryOptions({
  queryKey: ["greeting"] as const,
  queryFn: async ({ signal }) => (await authGreeting({ signal })).data,
  staleTime: 60_000,
});

/** Signs in by password; the response says which step is next, if any. */
export function useLogin() {
  const client = useQueryClient();
  return useMutation<Me, Problem, { email: string; password: string }>({
    mutationFn: async (body) => (await authLogin({ body })).data,
    onSuccess: (me) => storeMe(client, me),
  });
}

/** Signs in by a passkey alone. */
export function usePasskeyLogin() {
  const client = useQueryClient();
  return useMutation<Me, Problem, void>({
    mutationFn: async () => (await authPasskey({ body: { credential: await provePasskey() } })).data,
    onSuccess: (me) => storeMe(client, me),
  });
}

/** Signs out. The sign-in page clears the caches. */
export function useLogout() {
  return useMutation<void, Problem, void>({
    mutationFn: async () => {
      await authLogout();
    },
    onSuccess: () => rememberCsrfToken(null),
  });
}

/** The current user. */
export const authMeQuery = queryOptions({
  queryKey: ["auth", "me"] as const,
  queryFn: async ({ signal }) => {
    const { data } = await authMe({ signal });
    rememberCsrfToken(data.csrf_token ?? null);
    return data;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The second step of a sign-in. */
export function useSecondStep() {
  const client = useQueryClient();
  return useMutation<Me, Problem, Omit<Evidence, "password">>({
    mutationFn: async (body) => (await authFactor({ body })).data,
    onSuccess: (me) => storeMe(client, me),
  });
}

/** Confirms the user's identity before a sensitive change. */
export function useConfirmItIsYou() {
  const client = useQueryClient();
  return useMutation<Me, Problem, Evidence>({
    mutationFn: async (body) => (await authConfirm({ body })).data,
    onSuccess: (me) => storeMe(client, me),
  });
}

/** Sends a password reset link; the response does not reveal whether the account exists. */
export function useForgotPassword() {
  return useMutation<void, Problem, string>({
    mutationFn: async (email) => {
      await authForgot({ body: { email } });
    },
  });
}

/** Sets a new password with a one-time token. */
export function useResetPassword() {
  return useMutation<void, Problem, { token: string; password: string }>({
    mutationFn: async (body) => {
      await authReset({ body });
    },
  });
}

/** Signs up. */
export function useSignUp() {
  return useMutation<void, Problem, { email: string; name: string; password: string }>({
    mutationFn: async (body) => {
      await authSignUp({ body });
    },
  });
}

/** Verifies an e-mail address with the token of a link. */
export function useVerifyEmail() {
  return useMutation<void, Problem, string>({
    mutationFn: async (token) => {
      await authVerify({ body: { token } });
    },
  });
}

/** Sends the verification link again. */
export function useVerifyAgain() {
  return useMutation<void, Problem, string>({
    mutationFn: async (email) => {
      await authVerifyAgain({ body: { email } });
    },
  });
}

/** Stores the current user after a sign-in step. */
export function storeMe(client: QueryClient, me: Me): void {
  rememberCsrfToken(me.csrf_token ?? null);
  client.setQueryData(authMeQuery.queryKey, me);
}
