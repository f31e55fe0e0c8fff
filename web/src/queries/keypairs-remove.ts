import { useMutation, useQueryClient } from "@tanstack/react-query";
import { keypairsRemove } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { keypairsListQuery } from "./keypairs-list";

/** Deletes a keypair; whatever uses it is refused from then on. */
export function useRemoveKeypair() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (accessKey) => {
      await keypairsRemove({ path: { access_key: accessKey } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}
