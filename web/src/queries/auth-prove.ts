import { useMutation, useQueryClient } from "@tanstack/react-query";
import { authConfirm, authFactor } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Evidence, Me } from "@/api/types";
import { welcome } from "./auth-welcome";

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
