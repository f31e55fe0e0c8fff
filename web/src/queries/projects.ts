import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  projectsArchive,
  projectsCreate,
  projectsList,
  projectsOver,
  projectsRemove,
  projectsRestore,
  projectsShow,
  projectsUpdate,
} from "@/api/generated/sdk.gen";
import type { ProjectsListData } from "@/api/generated/types.gen";
import type { ProjectCreate, ProjectUpdate, Slots, WholeProject } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type ProjectFilter = Pick<
  NonNullable<ProjectsListData["query"]>,
  "q" | "domain" | "archived" | "sort"
>;

/** Projects that the user may see, paginated, in server order. */
export function projectsListQuery(filter: ProjectFilter) {
  return infiniteQueryOptions({
    queryKey: ["projects", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await projectsList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All projects that match the filter. */
export const everyProject = (filter: ProjectFilter) =>
  everyPage((cursor) => projectsList({ query: { ...filter, limit: 200, cursor } }));

/** Projects for select inputs: those of a domain that accept sessions. */
export function projectsChoiceQuery(domain: string | undefined) {
  return queryOptions({
    queryKey: ["projects", "choice", domain ?? null] as const,
    queryFn: () => everyProject({ domain, archived: false, sort: "name" }),
  });
}

/** One project, by id. */
export function projectsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["projects", "show", id] as const,
    queryFn: async ({ signal }) => (await projectsShow({ path: { ref: id }, signal })).data,
  });
}

const TOUCHED = ["projects", "domains", "users", "auth"];

export const useCreateProject = () =>
  useChange<ProjectCreate, WholeProject>(async (body) => (await projectsCreate({ body })).data, TOUCHED);

export const useUpdateProject = () =>
  useChange<{ id: string } & ProjectUpdate, WholeProject>(
    async ({ id, ...body }) => (await projectsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Archives a project. `sessions`: what happens to its live ones. */
export const useArchiveProject = () =>
  useChange<{ id: string; sessions: "keep" | "end" | null }, WholeProject>(
    async ({ id, sessions }) => (await projectsArchive({ path: { ref: id }, body: { sessions } })).data,
    [...TOUCHED, "sessions"],
  );

export const useRestoreProject = () =>
  useChange<string, WholeProject>(async (id) => (await projectsRestore({ path: { ref: id } })).data, TOUCHED);

export const useRemoveProject = () =>
  useChange<string, unknown>(async (id) => (await projectsRemove({ path: { ref: id } })).data, TOUCHED);

/** Where the current usage of a project exceeds these ceilings. */
export function projectsOverQuery(id: string, ceilings: Slots) {
  return queryOptions({
    queryKey: ["over", "project", id, ceilings] as const,
    queryFn: async ({ signal }) =>
      (await projectsOver({ path: { ref: id }, body: { ceilings }, signal })).data.items,
  });
}
