import { useQueryClient } from "@tanstack/react-query";
import { authMeQuery, useLogout } from "@/queries/auth";

/** Cancels an incomplete sign-in, and shows the form again. */
export function useStartOver(): () => void {
  const client = useQueryClient();
  const logout = useLogout();
  return () =>
    logout.mutate(undefined, { onSettled: () => client.resetQueries({ queryKey: authMeQuery.queryKey }) });
}
