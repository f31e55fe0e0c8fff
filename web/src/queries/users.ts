import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  usersCreate,
  usersCreateMany,
  usersList,
  usersPurge,
  usersRecover,
  usersShow,
  usersUpdate,
} from "@/api/generated/sdk.gen";
import type { UserPurged, UsersListData } from "@/api/generated/types.gen";
import type {
  DraftUser,
  RecoveryLink,
  UserCreate,
  UserCreated,
  UserDetail,
  UserMade,
  UserUpdate,
} from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type UserFilter = Pick<
  NonNullable<UsersListData["query"]>,
  "q" | "state" | "role" | "domain" | "project" | "sort"
>;

/** Users that the current user may see, paginated, in server order. */
export function usersListQuery(filter: UserFilter) {
  return infiniteQueryOptions({
    queryKey: ["users", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await usersList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All users that match the filter. */
export const everyUser = (filter: UserFilter) =>
  everyPage((cursor) => usersList({ query: { ...filter, limit: 200, cursor } }));

/** Details of a user, by id or e-mail. */
export function usersShowQuery(ref: string) {
  return queryOptions({
    queryKey: ["users", "show", ref] as const,
    queryFn: async ({ signal }) => (await usersShow({ path: { ref }, signal })).data,
  });
}

/** Creates a user; only this response contains a generated password or a link. */
export const useCreateUser = () =>
  useChange<UserCreate, UserCreated>(
    async (body) => (await usersCreate({ body })).data,
    ["users", "projects", "domains"],
  );

/** Creates or only validates these users. The indexes of the response are those of `rows`. */
export async function createMany(
  rows: DraftUser[],
  defaults: DraftUser,
  { dryRun, signal }: { dryRun: boolean; signal?: AbortSignal },
): Promise<UserMade[]> {
  const { data } = await usersCreateMany({ body: { rows, defaults }, query: { dry_run: dryRun }, signal });
  return data.items;
}

/** The first few users, of any visible domain, whose e-mail or name contains `q`. */
export function usersSearchQuery(q: string) {
  return queryOptions({
    queryKey: ["users", "found", null, q] as const,
    queryFn: async ({ signal }) =>
      (await usersList({ query: { q: q || undefined, state: "active", limit: 20, sort: "email" }, signal }))
        .data.items,
  });
}

interface UserRequest {
  id: string;
  /** The user's e-mail, as confirmation. */
  confirm: string;
  /** Ends the user's live sessions; without it, a user with live sessions is not deleted. */
  endSessions: boolean;
  /** What happens to the user's folders; without it, a user with folders is not deleted. */
  folders: { to: string } | "delete" | null;
}

/** Deletes an inactive user permanently. */
export const usePurgeUser = () =>
  useChange<UserRequest, UserPurged>(
    async ({ id, confirm, endSessions, folders }) =>
      (
        await usersPurge({
          path: { ref: id },
          body: {
            confirm,
            sessions: endSessions ? "end" : null,
            delete_folders: folders === "delete",
            folders_to: folders && folders !== "delete" ? folders.to : null,
          },
        })
      ).data,
    ["users", "projects", "domains", "keypairs", "folders", "quotas"],
  );

/** Creates a one-time link to set a new password. */
export const useRecoverUser = () =>
  useChange<string, RecoveryLink>(async (ref) => (await usersRecover({ path: { ref } })).data, []);

/** Updates the given fields of a user. */
export const useUpdateUser = () =>
  useChange<{ id: string } & UserUpdate, UserDetail>(
    async ({ id, ...body }) => (await usersUpdate({ path: { ref: id }, body })).data,
    ["users", "projects", "domains", "logins", "sessions"],
  );
