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

/** Everything about one user, by id or e-mail. */
export function usersShowQuery(ref: string) {
  return queryOptions({
    queryKey: ["users", "show", ref] as const,
    queryFn: async ({ signal }) => (await usersShow({ path: { ref }, signal })).data,
  });
}

/** Makes a user; a generated password or a link is in the answer and nowhere else. */
export const useCreateUser = () =>
  useChange<UserCreate, UserCreated>(
    async (body) => (await usersCreate({ body })).data,
    ["users", "projects", "domains"],
  );

/** Makes these users, or only says what is wrong with each. The places in the answer are those in `rows`. */
export async function createMany(
  rows: DraftUser[],
  defaults: DraftUser,
  { dryRun, signal }: { dryRun: boolean; signal?: AbortSignal },
): Promise<UserMade[]> {
  const { data } = await usersCreateMany({ body: { rows, defaults }, query: { dry_run: dryRun }, signal });
  return data.items;
}

/** The first few people, of any domain that is reached, whose e-mail or name holds this. */
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
  /** Their e-mail, as proof that they are meant. */
  confirm: string;
  /** Their live sessions end; without it a user who has some stays. */
  endSessions: boolean;
  /** What becomes of their folders; without it a user who has some stays. */
  folders: { to: string } | "delete" | null;
}

/** Deletes an inactive user for good. */
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

/** A one-time link with which somebody sets a new password. */
export const useRecoverUser = () =>
  useChange<string, RecoveryLink>(async (ref) => (await usersRecover({ path: { ref } })).data, []);

/** Changes what is given of a user. */
export const useUpdateUser = () =>
  useChange<{ id: string } & UserUpdate, UserDetail>(
    async ({ id, ...body }) => (await usersUpdate({ path: { ref: id }, body })).data,
    ["users", "projects", "domains", "logins", "sessions"],
  );
