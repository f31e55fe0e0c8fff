import { queryOptions } from "@tanstack/react-query";
import { domainsShow } from "@/api/generated/sdk.gen";

/** One domain, by id. */
export function domainsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["domains", "show", id] as const,
    queryFn: async ({ signal }) => (await domainsShow({ path: { ref: id }, signal })).data,
  });
}
