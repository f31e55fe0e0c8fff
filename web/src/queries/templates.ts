import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  definitionsRead,
  templatesCreate,
  templatesList,
  templatesPreview,
  templatesRemove,
  templatesShow,
  templatesStart,
  templatesUpdate,
} from "@/api/generated/sdk.gen";
import type { TemplatesListData } from "@/api/generated/types.gen";
import type { SessionCreate, SessionDetail, Template, TemplateCreate, TemplateStart } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type TemplateFilter = Omit<NonNullable<TemplatesListData["query"]>, "limit" | "cursor">;

/** Templates that the user may see, paginated, in server order. */
export function templatesListQuery(filter: TemplateFilter) {
  return infiniteQueryOptions({
    queryKey: ["templates", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await templatesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All templates that match the filter. */
export const everyTemplate = (filter: TemplateFilter) =>
  everyPage((cursor) => templatesList({ query: { ...filter, limit: 200, cursor } }));

/** Templates for select inputs: those that the user can start. */
export const templatesChoiceQuery = queryOptions({
  queryKey: ["templates", "choice"] as const,
  queryFn: () => everyTemplate({ sort: "name" }),
});

/** One template. */
export function templatesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["templates", "show", id] as const,
    queryFn: async ({ signal }) => (await templatesShow({ path: { ref: id }, signal })).data,
  });
}

/** The request that a start with these values would make. */
export function templatesPreviewQuery(id: string, parameters: Record<string, string>) {
  return queryOptions({
    queryKey: ["templates", "preview", id, parameters] as const,
    queryFn: async ({ signal }) =>
      (await templatesPreview({ path: { ref: id }, body: { parameters }, signal })).data as {
        session: SessionCreate;
        revision: number;
      },
  });
}

const TOUCHED = ["templates"];

export const useCreateTemplate = () =>
  useChange<TemplateCreate, Template>(async (body) => (await templatesCreate({ body })).data, TOUCHED);

type Edited = Omit<TemplateCreate, "session" | "from_session"> & {
  /** Of the template to change; absent for a new one. */
  id?: string;
  revision?: number;
  /** The definition in YAML. */
  text: string;
};

/** Creates or changes a template with the definition of a text. */
export const useSaveTemplate = () =>
  useChange<Edited, Template>(async ({ id, revision, text, ...fields }) => {
    const { session } = (await definitionsRead({ body: { text, template: true } })).data;
    const body = { ...fields, session };
    return id === undefined
      ? (await templatesCreate({ body })).data
      : (await templatesUpdate({ path: { ref: id }, body: { ...body, revision } })).data;
  }, TOUCHED);

export const useRemoveTemplate = () =>
  useChange<string, unknown>(async (id) => (await templatesRemove({ path: { ref: id } })).data, TOUCHED);

/** Starts a session; `key` makes a retry return the first one. */
export const useStartTemplate = () =>
  useChange<{ id: string; key: string } & TemplateStart, SessionDetail>(
    async ({ id, key, ...body }) =>
      (await templatesStart({ path: { ref: id }, body, headers: { "Idempotency-Key": key } })).data,
    ["sessions", "check"],
  );
