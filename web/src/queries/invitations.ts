import { queryOptions } from "@tanstack/react-query";
import { invitationsAccept, invitationsDecline, invitationsList } from "@/api/generated/sdk.gen";
import { useChange } from "./use-change";

/** The current user's folder invitations. */
export const invitationsQuery = queryOptions({
  queryKey: ["invitations", "list"] as const,
  queryFn: async ({ signal }) => (await invitationsList({ signal })).data.items,
});

const TOUCHED = ["invitations", "folders"];

export const useAcceptInvitation = () =>
  useChange<string, unknown>(async (share) => (await invitationsAccept({ path: { share } })).data, TOUCHED);

export const useDeclineInvitation = () =>
  useChange<string, unknown>(async (share) => (await invitationsDecline({ path: { share } })).data, TOUCHED);
