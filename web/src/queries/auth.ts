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

/** What is known before anybody has signed in: rules of passwords, providers, the announcement. */
export const greetingQuery = queryOptions({
  queryKey: ["greeting"] as const,
  queryFn: async ({ signal }) => (await authGreeting({ signal })).data,
  staleTime: 60_000,
});

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

/** Signs out. The sign-in page, which follows, forgets everything this page knew. */
export function useLogout() {
  return useMutation<void, Problem, void>({
    mutationFn: async () => {
      await authLogout();
    },
    onSuccess: () => rememberCsrfToken(null),
  });
}

/** Who is signed in. */
export const authMeQuery = queryOptions({
  queryKey: ["auth", "me"] as const,
  queryFn: async ({ signal }) => {
    const { data } = await authMe({ signal });
    rememberCsrfToken(data.csrf_token ?? null);
    return data;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** The second step of signing in. */
export function useSecondStep() {
  const client = useQueryClient();
  return useMutation<Me, Problem, Omit<Evidence, "password">>({
    mutationFn: async (body) => (await authFactor({ body })).data,
    onSuccess: (me) => welcome(client, me),
  });
}

/** Proves once more that it is this person, before a dangerous change. */
export function useConfirmItIsYou() {
  const client = useQueryClient();
  return useMutation<Me, Problem, Evidence>({
    mutationFn: async (body) => (await authConfirm({ body })).data,
    onSuccess: (me) => welcome(client, me),
  });
}

/** Has a link mailed with which a new password is set; whether somebody has the address is not told. */
export function useForgotPassword() {
  return useMutation<void, Problem, string>({
    mutationFn: async (email) => {
      await authForgot({ body: { email } });
    },
  });
}

/** Sets a new password by the token of a one-time link. */
export function useResetPassword() {
  return useMutation<void, Problem, { token: string; password: string }>({
    mutationFn: async (body) => {
      await authReset({ body });
    },
  });
}

/** Makes an account of one's own. */
export function useSignUp() {
  return useMutation<void, Problem, { email: string; name: string; password: string }>({
    mutationFn: async (body) => {
      await authSignUp({ body });
    },
  });
}

/** Proves an e-mail address by the token of a mailed link. */
export function useVerifyEmail() {
  return useMutation<void, Problem, string>({
    mutationFn: async (token) => {
      await authVerify({ body: { token } });
    },
  });
}

/** Has the link that proves an address mailed again. */
export function useVerifyAgain() {
  return useMutation<void, Problem, string>({
    mutationFn: async (email) => {
      await authVerifyAgain({ body: { email } });
    },
  });
}

/** Keeps who is signed in now, after any step that the server answered with it. */
export function welcome(client: QueryClient, me: Me): void {
  rememberCsrfToken(me.csrf_token ?? null);
  client.setQueryData(authMeQuery.queryKey, me);
}
