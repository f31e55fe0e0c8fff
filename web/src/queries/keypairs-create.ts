import { useMutation, useQueryClient } from "@tanstack/react-query";
import { keypairsCreate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewKeypair } from "@/api/types";
import { keypairsListQuery } from "./keypairs-list";

/** Makes a keypair; the answer is the only time that its secret is shown. */
export function useCreateKeypair() {
  const client = useQueryClient();
  return useMutation<NewKeypair, Problem, void>({
    mutationFn: async () => (await keypairsCreate()).data,
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}
