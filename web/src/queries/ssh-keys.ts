import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { sshKeysAdd, sshKeysList, sshKeysRemove } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewSshKey } from "@/api/types";

/** The current user's SSH keys, newest first. */
export const sshKeysListQuery = queryOptions({
  queryKey: ["ssh-keys", "list"] as const,
  queryFn: async ({ signal }) => (await sshKeysList({ signal })).data.items,
});

/** Adds a public key; without one, generates a key pair, whose private key is only in this response. */
export function useAddSshKey() {
  const client = useQueryClient();
  return useMutation<NewSshKey, Problem, { name: string; public_key?: string }>({
    mutationFn: async (body) => (await sshKeysAdd({ body })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: sshKeysListQuery.queryKey }),
  });
}

/** Deletes an SSH key. */
export function useRemoveSshKey() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (key) => {
      await sshKeysRemove({ path: { key } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: sshKeysListQuery.queryKey }),
  });
}
