import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { vfoldersList } from "@/api/generated/sdk.gen";
import type { VfoldersListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type FolderFilter = Omit<NonNullable<VfoldersListData["query"]>, "limit" | "cursor">;

/** Folders that the person may see, page by page, in the order of the server. */
export function foldersListQuery(filter: FolderFilter) {
  return infiniteQueryOptions({
    queryKey: ["folders", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await vfoldersList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every folder that the filter finds. */
export const everyFolder = (filter: FolderFilter) =>
  everyPage((cursor) => vfoldersList({ query: { ...filter, limit: 200, cursor } }));

/** The folders to choose from: those that a session of this person can mount. */
export const foldersChoiceQuery = queryOptions({
  queryKey: ["folders", "choice"] as const,
  queryFn: () => everyFolder({ of: "me", mountable: true, sort: "name" }),
});
