import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sshKeysAdd, sshKeysRemove } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewSshKey } from "@/api/types";
import { sshKeysListQuery } from "./ssh-keys-list";

/** Keeps a public key; without one a pair is made, whose private half is in this answer alone. */
export function useAddSshKey() {
  const client = useQueryClient();
  return useMutation<NewSshKey, Problem, { name: string; public_key?: string }>({
    mutationFn: async (body) => (await sshKeysAdd({ body })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: sshKeysListQuery.queryKey }),
  });
}

/** Forgets an SSH key. */
export function useRemoveSshKey() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (key) => {
      await sshKeysRemove({ path: { key } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: sshKeysListQuery.queryKey }),
  });
}
