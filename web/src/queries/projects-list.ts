import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { projectsList } from "@/api/generated/sdk.gen";
import type { ProjectsListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type ProjectFilter = Pick<
  NonNullable<ProjectsListData["query"]>,
  "q" | "domain" | "archived" | "sort"
>;

/** Projects that the person may see, page by page, in the order of the server. */
export function projectsListQuery(filter: ProjectFilter) {
  return infiniteQueryOptions({
    queryKey: ["projects", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await projectsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every project that the filter finds. */
export const everyProject = (filter: ProjectFilter) =>
  everyPage((cursor) => projectsList({ query: { ...filter, limit: 200, cursor } }));

/** The projects to choose from: those of a domain that take sessions. */
export function projectsChoiceQuery(domain: string | undefined) {
  return queryOptions({
    queryKey: ["projects", "choice", domain ?? null] as const,
    queryFn: () => everyProject({ domain, archived: false, sort: "name" }),
  });
}
