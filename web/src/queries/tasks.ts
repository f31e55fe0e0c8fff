import { queryOptions } from "@tanstack/react-query";
import { vfolderTasksCancel, vfolderTasksList } from "@/api/generated/sdk.gen";
import type { FolderTask } from "@/api/types";
import { useChange } from "./use-change";

/** What this person has being done with folders now. */
export const openTasksQuery = queryOptions({
  queryKey: ["tasks", "open"] as const,
  queryFn: async ({ signal }) =>
    (await vfolderTasksList({ query: { open: true, limit: 100 }, signal })).data.items,
});

/** What this person had done last, also what has ended. */
export const latestTasksQuery = queryOptions({
  queryKey: ["tasks", "latest"] as const,
  queryFn: async ({ signal }) => (await vfolderTasksList({ query: { limit: 50 }, signal })).data.items,
  staleTime: 0,
  gcTime: 0,
});

/** What this person had done with one folder, newest first. */
export function folderTasksQuery(folder: string) {
  return queryOptions({
    queryKey: ["tasks", "of", folder] as const,
    queryFn: async ({ signal }) =>
      (await vfolderTasksList({ query: { folder, limit: 50 }, signal })).data.items,
  });
}

export const useCancelTask = () =>
  useChange<string, FolderTask>(
    async (id) => (await vfolderTasksCancel({ path: { ref: id } })).data,
    ["tasks", "folders"],
  );
