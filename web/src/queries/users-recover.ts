import { usersRecover } from "@/api/generated/sdk.gen";
import type { RecoveryLink } from "@/api/types";
import { useChange } from "./use-change";

/** A one-time link with which somebody sets a new password. */
export const useRecoverUser = () =>
  useChange<string, RecoveryLink>(async (ref) => (await usersRecover({ path: { ref } })).data, []);
