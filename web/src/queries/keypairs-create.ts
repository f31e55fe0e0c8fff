import { useMutation, useQueryClient } from "@tanstack/react-query";
import { keypairsCreate, keypairsRotate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewKeypair } from "@/api/types";
import { keypairsListQuery } from "./keypairs-list";

/** Makes a keypair; the answer is the only time that its secret is shown. */
export function useCreateKeypair() {
  const client = useQueryClient();
  return useMutation<NewKeypair, Problem, { name: string }>({
    mutationFn: async (body) => (await keypairsCreate({ body })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}

/** Gives a keypair another secret; the answer is the only time that it is shown. */
export function useRotateKeypair() {
  const client = useQueryClient();
  return useMutation<NewKeypair, Problem, string>({
    mutationFn: async (accessKey) => (await keypairsRotate({ path: { access_key: accessKey } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}
