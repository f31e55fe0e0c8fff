import { queryOptions } from "@tanstack/react-query";
import { serverShow } from "@/api/generated/sdk.gen";

/** The installation: its version and the health of its parts. */
export const serverShowQuery = queryOptions({
  queryKey: ["server", "show"] as const,
  queryFn: async ({ signal }) => (await serverShow({ signal })).data,
  staleTime: 60_000,
});
