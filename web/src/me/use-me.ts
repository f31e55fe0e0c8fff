import { useSuspenseQuery } from "@tanstack/react-query";
import type { Me } from "@/api/types";
import { authMeQuery } from "@/queries/auth";

/** Who is signed in; the shell is only shown to somebody who is. */
export function useMe(): Me {
  return useSuspenseQuery(authMeQuery).data;
}
