import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  domainsCreate,
  domainsList,
  domainsOver,
  domainsRemove,
  domainsShow,
  domainsUpdate,
} from "@/api/generated/sdk.gen";
import type { DomainsListData } from "@/api/generated/types.gen";
import type { Domain, DomainCreate, DomainUpdate, Slots } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

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

/** One domain, by id. */
export function domainsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["domains", "show", id] as const,
    queryFn: async ({ signal }) => (await domainsShow({ path: { ref: id }, signal })).data,
  });
}

const TOUCHED = ["domains", "users", "auth"];

export const useCreateDomain = () =>
  useChange<DomainCreate, Domain>(async (body) => (await domainsCreate({ body })).data, TOUCHED);

/** Changes what is given of a domain. */
export const useUpdateDomain = () =>
  useChange<{ id: string } & DomainUpdate, Domain>(
    async ({ id, ...body }) => (await domainsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveDomain = () =>
  useChange<string, unknown>(async (id) => (await domainsRemove({ path: { ref: id } })).data, TOUCHED);

/** Where a domain would be over its ceilings now, were they these. */
export function domainsOverQuery(id: string, ceilings: Slots) {
  return queryOptions({
    queryKey: ["over", "domain", id, ceilings] as const,
    queryFn: async ({ signal }) =>
      (await domainsOver({ path: { ref: id }, body: { ceilings }, signal })).data.items,
  });
}
