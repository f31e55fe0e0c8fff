import { infiniteQueryOptions } from "@tanstack/react-query";
import {
  projectMembersAdd,
  projectMembersList,
  projectMembersRemove,
  projectMembersUpdate,
} from "@/api/generated/sdk.gen";
import type { MemberRemoved, MembersAdded } from "@/api/generated/types.gen";
import { useChange } from "./use-change";

/** The members of a project, by e-mail, paginated. */
export function membersListQuery(project: string, q: string) {
  return infiniteQueryOptions({
    queryKey: ["projects", "members", project, q] as const,
    queryFn: async ({ pageParam, signal }) =>
      (
        await projectMembersList({
          path: { ref: project },
          query: { q: q || undefined, limit: 100, cursor: pageParam },
          signal,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

const TOUCHED = ["projects", "users", "auth"];

/** Adds members to a project; the response has a result for each. */
export const useAddMembers = () =>
  useChange<{ project: string; users: string[]; admin: boolean }, MembersAdded>(
    async ({ project, ...body }) => (await projectMembersAdd({ path: { ref: project }, body })).data,
    TOUCHED,
  );

/** Grants or revokes project administration. */
export const useAppointMember = () =>
  useChange<{ project: string; user: string; admin: boolean }, unknown>(
    async ({ project, user, admin }) =>
      (await projectMembersUpdate({ path: { ref: project, user }, body: { admin } })).data,
    TOUCHED,
  );

export const useRemoveMember = () =>
  useChange<{ project: string; user: string }, MemberRemoved>(
    async ({ project, user }) => (await projectMembersRemove({ path: { ref: project, user } })).data,
    TOUCHED,
  );
