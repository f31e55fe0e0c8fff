import { queryOptions } from "@tanstack/react-query";
import { vfolderTasksCancel, vfolderTasksList } from "@/api/generated/sdk.gen";
import type { FolderTask } from "@/api/types";
import { useChange } from "./use-change";

/** The user's running folder tasks. */
export const openTasksQuery = queryOptions({
  queryKey: ["tasks", "open"] as const,
  queryFn: async ({ signal }) =>
    (await vfolderTasksList({ query: { open: true, limit: 100 }, signal })).data.items,
});

/** The user's latest folder tasks, including finished ones. */
export const latestTasksQuery = queryOptions({
  queryKey: ["tasks", "latest"] as const,
  queryFn: async ({ signal }) => (await vfolderTasksList({ query: { limit: 50 }, signal })).data.items,
  staleTime: 0,
  gcTime: 0,
});

/** The user's tasks on one folder, newest first. */
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
