import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import {
  keypairsCreate,
  keypairsList,
  keypairsRemove,
  keypairsRotate,
  keypairsUpdate,
} from "@/api/generated/sdk.gen";
import type { KeypairsUpdateData } from "@/api/generated/types.gen";
import type { Problem } from "@/api/problem";
import type { Keypair, NewKeypair } from "@/api/types";
import { useChange } from "./use-change";

/** The current user's keypairs, without their secrets. */
export const keypairsListQuery = queryOptions({
  queryKey: ["keypairs", "list"] as const,
  queryFn: async ({ signal }) => (await keypairsList({ signal })).data.items,
});

/** Updates the given fields of a keypair. */
export const useUpdateKeypair = () =>
  useChange<{ key: string } & KeypairsUpdateData["body"], Keypair>(
    async ({ key, ...body }) => (await keypairsUpdate({ path: { access_key: key }, body })).data,
    ["keypairs"],
  );

/** Deletes a user's keypair. */
export const useDeleteKeypair = () =>
  useChange<string, unknown>(
    async (key) => (await keypairsRemove({ path: { access_key: key } })).data,
    ["keypairs", "users"],
  );

/** Creates a keypair; only this response contains its secret. */
export function useCreateKeypair() {
  const client = useQueryClient();
  return useMutation<NewKeypair, Problem, { name: string }>({
    mutationFn: async (body) => (await keypairsCreate({ body })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}

/** Rotates the secret of a keypair; only this response contains it. */
export function useRotateKeypair() {
  const client = useQueryClient();
  return useMutation<NewKeypair, Problem, string>({
    mutationFn: async (accessKey) => (await keypairsRotate({ path: { access_key: accessKey } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}

/** Keypairs of a user by id, or "all" that the current user may see. */
export function keypairsOfQuery(owner: string) {
  return queryOptions({
    queryKey: ["keypairs", "of", owner] as const,
    queryFn: async ({ signal }) => (await keypairsList({ query: { owner }, signal })).data.items,
  });
}

/** Deletes a keypair; its clients are refused from then on. */
export function useRemoveKeypair() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (accessKey) => {
      await keypairsRemove({ path: { access_key: accessKey } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keypairsListQuery.queryKey }),
  });
}
