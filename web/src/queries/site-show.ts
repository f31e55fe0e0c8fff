import { queryOptions } from "@tanstack/react-query";
import { siteShow } from "@/api/generated/sdk.gen";

/** The settings of the installation. */
export const siteShowQuery = queryOptions({
  queryKey: ["site", "show"] as const,
  queryFn: async ({ signal }) => (await siteShow({ signal })).data,
});
