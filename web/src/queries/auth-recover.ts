import { useMutation } from "@tanstack/react-query";
import { authForgot, authReset, authSignUp, authVerify, authVerifyAgain } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";

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
