import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { loginsList, loginsRemove, loginsRemoveAll } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

/** The current user's sign-ins; last used first. */
export const loginsListQuery = infiniteQueryOptions({
  queryKey: ["logins", "list"] as const,
  queryFn: async ({ pageParam, signal }) =>
    (await loginsList({ query: { limit: 100, cursor: pageParam }, signal })).data,
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

/** Signs a user out of one browser, or of all. */
export const useEndLogins = () =>
  useChange<{ login: string } | { user: string }, unknown>(
    async (variables) =>
      "login" in variables
        ? (await loginsRemove({ path: { login: variables.login } })).data
        : (await loginsRemoveAll({ query: { user: variables.user } })).data,
    ["logins", "users"],
  );

/** The sign-ins of a user. */
export function loginsOfQuery(user: string) {
  return queryOptions({
    queryKey: ["logins", "of", user] as const,
    queryFn: ({ signal }) =>
      everyPage((cursor) => loginsList({ query: { user, limit: 200, cursor }, signal })),
  });
}

/** Signs out of one browser. */
export function useEndLogin() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (login) => {
      await loginsRemove({ path: { login } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: loginsListQuery.queryKey }),
  });
}

/** Signs the current user out everywhere else; returns the number of sign-ins. */
export function useEndOtherLogins() {
  const client = useQueryClient();
  return useMutation<number, Problem, void>({
    mutationFn: async () => (await loginsRemoveAll()).data.ended,
    onSuccess: () => client.invalidateQueries({ queryKey: loginsListQuery.queryKey }),
  });
}
