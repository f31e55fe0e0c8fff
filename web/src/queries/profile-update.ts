import { useMutation, useQueryClient } from "@tanstack/react-query";
import { profileUpdate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { Me, Preferences } from "@/api/types";
import { authMeQuery } from "./auth-me";

/** Changes one's own name and preferences; what is left out stays. */
export function useUpdateProfile() {
  const client = useQueryClient();
  return useMutation<Me["user"], Problem, { name?: string; preferences?: Preferences }>({
    mutationFn: async (body) => (await profileUpdate({ body })).data,
    onSuccess: (user) =>
      client.setQueryData(authMeQuery.queryKey, (me: Me | undefined) => me && { ...me, user }),
  });
}
