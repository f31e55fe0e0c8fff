import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { policiesList } from "@/api/generated/sdk.gen";
import type { PoliciesListData } from "@/api/generated/types.gen";
import type { PolicyKind } from "@/api/types";
import { everyPage } from "./every-page";

export type PolicyFilter = Pick<NonNullable<PoliciesListData["query"]>, "q" | "kind" | "sort">;

/** Resource policies, page by page, in the order of the server. */
export function policiesListQuery(filter: PolicyFilter) {
  return infiniteQueryOptions({
    queryKey: ["policies", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await policiesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every policy that the filter finds. */
export const everyPolicy = (filter: PolicyFilter) =>
  everyPage((cursor) => policiesList({ query: { ...filter, limit: 200, cursor } }));

/** The policies of one kind to choose from. */
export function policiesChoiceQuery(kind: PolicyKind) {
  return queryOptions({
    queryKey: ["policies", "choice", kind] as const,
    queryFn: () => everyPolicy({ kind, sort: "name" }),
  });
}
