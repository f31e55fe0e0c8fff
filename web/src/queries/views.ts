import { queryOptions } from "@tanstack/react-query";
import { viewsCreate, viewsList, viewsRemove, viewsUpdate } from "@/api/generated/sdk.gen";
import type { SavedView } from "@/api/types";
import { useChange } from "./use-change";

/** The current user's saved views of lists, by name. */
export const viewsListQuery = queryOptions({
  queryKey: ["views", "list"] as const,
  queryFn: async ({ signal }) => (await viewsList({ signal })).data.items,
});

/** Saves a view of the session list; `id`: of the view that it replaces. */
export function useSaveView() {
  return useChange(
    async ({ id, name, search }: { id?: string; name: string; search: SavedView["search"] }) =>
      id === undefined
        ? (await viewsCreate({ body: { list: "sessions", name, search } })).data
        : (await viewsUpdate({ path: { view: id }, body: { search } })).data,
    ["views"],
  );
}

/** Renames a view. */
export function useRenameView() {
  return useChange(
    async ({ id, name }: { id: string; name: string }) =>
      (await viewsUpdate({ path: { view: id }, body: { name } })).data,
    ["views"],
  );
}

/** Deletes a view. */
export function useRemoveView() {
  return useChange(
    async (id: string) => {
      await viewsRemove({ path: { view: id } });
    },
    ["views"],
  );
}
