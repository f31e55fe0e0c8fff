import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { tokensCreate, tokensList, tokensRemove } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { NewToken } from "@/api/types";

/** The current user's tokens, newest first, without their secrets. */
export const tokensListQuery = queryOptions({
  queryKey: ["tokens", "list"] as const,
  queryFn: async ({ signal }) => (await tokensList({ signal })).data.items,
});

interface TokenWish {
  name: string;
  scopes: string[];
  /** Null: no expiry. */
  expires_in_days: number | null;
}

/** Creates a token; only this response contains it. */
export function useCreateToken() {
  const client = useQueryClient();
  return useMutation<NewToken, Problem, TokenWish>({
    mutationFn: async (body) => (await tokensCreate({ body })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: tokensListQuery.queryKey }),
  });
}

/** Revokes a token. */
export function useRemoveToken() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (token) => {
      await tokensRemove({ path: { token } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: tokensListQuery.queryKey }),
  });
}
