import type { QueryClient } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import type { Me } from "@/api/types";
import { authMeQuery } from "./auth-me";

/** Keeps who is signed in now, after any step that the server answered with it. */
export function welcome(client: QueryClient, me: Me): void {
  rememberCsrfToken(me.csrf_token ?? null);
  client.setQueryData(authMeQuery.queryKey, me);
}
