import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { sshKeysAdd, sshKeysList, sshKeysRemove, sshShow } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewSshKey } from "@/api/types";

/** The current user's SSH keys, newest first. */
export const sshKeysListQuery = queryOptions({
  queryKey: ["ssh-keys", "list"] as const,
  queryFn: async ({ signal }) => (await sshKeysList({ signal })).data.items,
});

/** How to connect by SSH: address and host key. */
export const sshQuery = queryOptions({
  queryKey: ["ssh"] as const,
  queryFn: async ({ signal }) => (await sshShow({ signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
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
