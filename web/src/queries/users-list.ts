import { infiniteQueryOptions } from "@tanstack/react-query";
import { usersList } from "@/api/generated/sdk.gen";
import type { UsersListData } from "@/api/generated/types.gen";
import { everyPage } from "./every-page";

export type UserFilter = Pick<
  NonNullable<UsersListData["query"]>,
  "q" | "state" | "role" | "domain" | "project" | "sort"
>;

/** Users that the person may see, page by page, in the order of the server. */
export function usersListQuery(filter: UserFilter) {
  return infiniteQueryOptions({
    queryKey: ["users", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await usersList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Every user that the filter finds. */
export const everyUser = (filter: UserFilter) =>
  everyPage((cursor) => usersList({ query: { ...filter, limit: 200, cursor } }));
