import { queryOptions } from "@tanstack/react-query";
import { factorsShow } from "@/api/generated/sdk.gen";

/** The person's second factors. */
export const factorsShowQuery = queryOptions({
  queryKey: ["factors", "show"] as const,
  queryFn: async ({ signal }) => (await factorsShow({ signal })).data,
});
