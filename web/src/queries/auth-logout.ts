import { useMutation } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import { authLogout } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";

/** Signs out. The sign-in page, which follows, forgets everything this page knew. */
export function useLogout() {
  return useMutation<void, Problem, void>({
    mutationFn: async () => {
      await authLogout();
    },
    onSuccess: () => rememberCsrfToken(null),
  });
}
