import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  appTemplatesCreate,
  appTemplatesList,
  appTemplatesRemove,
  appTemplatesShow,
  appTemplatesUpdate,
} from "@/api/generated/sdk.gen";
import type { AppTemplatesListData } from "@/api/generated/types.gen";
import type { AppTemplate, AppTemplateCreate, AppTemplateUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type AppTemplateFilter = Omit<NonNullable<AppTemplatesListData["query"]>, "limit" | "cursor">;

/** App templates that the user may see, paginated, in server order. */
export function appTemplatesListQuery(filter: AppTemplateFilter) {
  return infiniteQueryOptions({
    queryKey: ["app-templates", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await appTemplatesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All app templates that match the filter. */
export const everyAppTemplate = (filter: AppTemplateFilter) =>
  everyPage((cursor) => appTemplatesList({ query: { ...filter, limit: 200, cursor } }));

/** One app template. */
export function appTemplatesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["app-templates", "show", id] as const,
    queryFn: async ({ signal }) => (await appTemplatesShow({ path: { app_template: id }, signal })).data,
  });
}

const TOUCHED = ["app-templates", "apps"];

export const useCreateAppTemplate = () =>
  useChange<AppTemplateCreate, AppTemplate>(
    async (body) => (await appTemplatesCreate({ body })).data,
    TOUCHED,
  );

export const useUpdateAppTemplate = () =>
  useChange<{ id: string } & AppTemplateUpdate, AppTemplate>(
    async ({ id, ...body }) => (await appTemplatesUpdate({ path: { app_template: id }, body })).data,
    TOUCHED,
  );

export const useRemoveAppTemplate = () =>
  useChange<string, unknown>(
    async (id) => (await appTemplatesRemove({ path: { app_template: id } })).data,
    TOUCHED,
  );
