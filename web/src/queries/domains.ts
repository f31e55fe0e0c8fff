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

/** Domains that the user may see, paginated, in server order. */
export function domainsListQuery(filter: DomainFilter) {
  return infiniteQueryOptions({
    queryKey: ["domains", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await domainsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All domains that match the filter. */
export const everyDomain = (filter: DomainFilter) =>
  everyPage((cursor) => domainsList({ query: { ...filter, limit: 200, cursor } }));

/** Domains for select inputs. */
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

/** Updates the given fields of a domain. */
export const useUpdateDomain = () =>
  useChange<{ id: string } & DomainUpdate, Domain>(
    async ({ id, ...body }) => (await domainsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveDomain = () =>
  useChange<string, unknown>(async (id) => (await domainsRemove({ path: { ref: id } })).data, TOUCHED);

/** Where the current usage of a domain exceeds these ceilings. */
export function domainsOverQuery(id: string, ceilings: Slots) {
  return queryOptions({
    queryKey: ["over", "domain", id, ceilings] as const,
    queryFn: async ({ signal }) =>
      (await domainsOver({ path: { ref: id }, body: { ceilings }, signal })).data.items,
  });
}
