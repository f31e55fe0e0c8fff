import { useSuspenseQuery } from "@tanstack/react-query";
import type { Me } from "@/api/types";
import { authMeQuery } from "@/queries/auth";

/** The current user; the shell is rendered only after sign-in. */
export function useMe(): Me {
  return useSuspenseQuery(authMeQuery).data;
}
