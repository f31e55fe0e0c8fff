import { queryOptions } from "@tanstack/react-query";
import { serverShow } from "@/api/generated/sdk.gen";

/** The server's version and health. */
export const serverQuery = queryOptions({
  queryKey: ["server"] as const,
  queryFn: async ({ signal }) => (await serverShow({ signal })).data,
  staleTime: 60_000,
});
