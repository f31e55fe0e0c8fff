import { queryOptions } from "@tanstack/react-query";
import {
  sessionsJoin,
  sessionsLeave,
  sessionsShare,
  sessionsShares,
  sessionsUnshare,
} from "@/api/generated/sdk.gen";
import type { CreatedSessionShare, SessionShareCreate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["session-shares"];

/** Who has access to a session by a share, oldest first. */
export function sessionSharesQuery(id: string) {
  return queryOptions({
    queryKey: ["session-shares", id] as const,
    queryFn: async ({ signal }) => (await sessionsShares({ path: { ref: id }, signal })).data.items,
  });
}

/** Shares a session, once for each request; stops at the first that fails. The result is that of the last one. */
export const useShareSession = () =>
  useChange<{ id: string; requests: SessionShareCreate[] }, CreatedSessionShare | null>(
    async ({ id, requests }) => {
      let last: CreatedSessionShare | null = null;
      for (const body of requests) last = (await sessionsShare({ path: { ref: id }, body })).data;
      return last;
    },
    TOUCHED,
  );

export const useUnshareSession = () =>
  useChange<{ id: string; share: string }, unknown>(
    async ({ id, share }) => (await sessionsUnshare({ path: { ref: id, share } })).data,
    TOUCHED,
  );

/** Ends the user's own access to a session of another user. */
export const useLeaveSession = () =>
  useChange<string, unknown>(
    async (id) => (await sessionsLeave({ path: { ref: id } })).data,
    ["sessions", ...TOUCHED],
  );

/** Opens a link to a session: this gives the access that it grants. Safe to repeat. */
export function sessionLinkQuery(token: string) {
  return queryOptions({
    queryKey: ["session-links", token] as const,
    queryFn: async ({ signal }) => (await sessionsJoin({ body: { token }, signal })).data,
    retry: false,
    gcTime: 0,
  });
}
