import { queryOptions } from "@tanstack/react-query";
import { domainsOver } from "@/api/generated/sdk.gen";
import type { Slots } from "@/api/types";

/** Where a domain would be over its ceilings now, were they these. */
export function domainsOverQuery(id: string, ceilings: Slots) {
  return queryOptions({
    queryKey: ["over", "domain", id, ceilings] as const,
    queryFn: async ({ signal }) =>
      (await domainsOver({ path: { ref: id }, body: { ceilings }, signal })).data.items,
  });
}
