import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { rememberCsrfToken } from "@/api/client";
import {
  factorsReset,
  factorsShow,
  passkeysCreate,
  passkeysRemove,
  passkeysRename,
  recoveryCodesCreate,
  totpConfirm,
  totpCreate,
  totpRemove,
} from "@/api/generated/sdk.gen";
import { makePasskey } from "@/api/passkey";
import type { Problem } from "@/api/problem";
import type { TotpOffer } from "@/api/types";
import { useChange } from "./use-change";

/** The current user's second factors. */
export const factorsShowQuery = queryOptions({
  queryKey: ["factors", "show"] as const,
  queryFn: async ({ signal }) => (await factorsShow({ signal })).data,
});

/** Changes a second factor, and refetches all of them. */
function useFactorChange<Given, Answer>(change: (given: Given) => Promise<Answer>) {
  const client = useQueryClient();
  return useMutation<Answer, Problem, Given>({
    mutationFn: change,
    onSuccess: () => client.invalidateQueries({ queryKey: factorsShowQuery.queryKey }),
  });
}

/** Creates a TOTP secret, which is active once confirmed. */
export function useOfferTotp() {
  return useMutation<TotpOffer, Problem, void>({ mutationFn: async () => (await totpCreate()).data });
}

/** Confirms the authenticator app; returns recovery codes if there were none. */
export const useConfirmTotp = () =>
  useFactorChange(async (code: string) => {
    const { data } = await totpConfirm({ body: { code } });
    if (data.csrf_token) rememberCsrfToken(data.csrf_token);
    return data.recovery_codes;
  });

/** Removes the authenticator app. */
export const useRemoveTotp = () =>
  useFactorChange<void, void>(async () => {
    await totpRemove();
  });

/** Replaces the recovery codes. */
export const useRenewRecoveryCodes = () =>
  useFactorChange<void, string[]>(async () => (await recoveryCodesCreate()).data.recovery_codes);

/** Creates and registers a passkey; returns recovery codes if there were none. */
export const useAddPasskey = () =>
  useFactorChange(async (name: string) => {
    const { data } = await passkeysCreate({ body: { name, credential: await makePasskey() } });
    if (data.csrf_token) rememberCsrfToken(data.csrf_token);
    return data.recovery_codes;
  });

/** Renames a passkey. */
export const useRenamePasskey = () =>
  useFactorChange(async ({ id, name }: { id: string; name: string }) => {
    await passkeysRename({ path: { passkey: id }, body: { name } });
  });

/** Removes a passkey. */
export const useRemovePasskey = () =>
  useFactorChange(async (id: string) => {
    await passkeysRemove({ path: { passkey: id } });
  });

/** Removes all second factors of a user and signs them out everywhere. */
export const useResetFactors = () =>
  useChange<string, unknown>(
    async (ref) => (await factorsReset({ path: { ref } })).data,
    ["users", "logins"],
  );
