import { useMutation, useQueryClient } from "@tanstack/react-query";
import { passwordUpdate, profileUpdate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Me, Preferences } from "@/api/types";
import { authMeQuery, storeMe } from "./auth";
import { loginsListQuery } from "./logins";

/** Changes the current user's password; other browsers are signed out. */
export function useChangePassword() {
  const client = useQueryClient();
  return useMutation<Me, Problem, { current: string; new: string }>({
    mutationFn: async (body) => (await passwordUpdate({ body })).data,
    onSuccess: (me) => {
      storeMe(client, me);
      void client.invalidateQueries({ queryKey: loginsListQuery.queryKey });
    },
  });
}

/** Updates the current user's name and preferences; omitted fields stay. */
export function useUpdateProfile() {
  const client = useQueryClient();
  return useMutation<Me["user"], Problem, { name?: string; preferences?: Preferences }>({
    mutationFn: async (body) => (await profileUpdate({ body })).data,
    onSuccess: (user) =>
      client.setQueryData(authMeQuery.queryKey, (me: Me | undefined) => me && { ...me, user }),
  });
}
