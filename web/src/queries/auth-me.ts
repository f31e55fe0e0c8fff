import { queryOptions } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import { authMe } from "@/api/generated/sdk.gen";

/** Who is signed in. */
export const authMeQuery = queryOptions({
  queryKey: ["auth", "me"] as const,
  queryFn: async ({ signal }) => {
    const { data } = await authMe({ signal });
    rememberCsrfToken(data.csrf_token ?? null);
    return data;
  },
  staleTime: Number.POSITIVE_INFINITY,
});
