import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { domainsList } from "@/api/generated/sdk.gen";
import type { DomainsListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type DomainFilter = Pick<NonNullable<DomainsListData["query"]>, "q" | "active" | "sort">;

/** Domains that the person may see, page by page, in the order of the server. */
export function domainsListQuery(filter: DomainFilter) {
  return infiniteQueryOptions({
    queryKey: ["domains", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await domainsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every domain that the filter finds. */
export const everyDomain = (filter: DomainFilter) =>
  everyPage((cursor) => domainsList({ query: { ...filter, limit: 200, cursor } }));

/** The domains to choose from. */
export const domainsChoiceQuery = queryOptions({
  queryKey: ["domains", "choice"] as const,
  queryFn: () => everyDomain({ sort: "name" }),
});
