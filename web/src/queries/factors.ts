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

/** The person's second factors. */
export const factorsShowQuery = queryOptions({
  queryKey: ["factors", "show"] as const,
  queryFn: async ({ signal }) => (await factorsShow({ signal })).data,
});

/** Changes a second factor, and reads them all anew. */
function useFactorChange<Given, Answer>(change: (given: Given) => Promise<Answer>) {
  const client = useQueryClient();
  return useMutation<Answer, Problem, Given>({
    mutationFn: change,
    onSuccess: () => client.invalidateQueries({ queryKey: factorsShowQuery.queryKey }),
  });
}

/** A secret for an authenticator app, which counts once it is confirmed. */
export function useOfferTotp() {
  return useMutation<TotpOffer, Problem, void>({ mutationFn: async () => (await totpCreate()).data });
}

/** Lets codes of the app count; gives recovery codes when there were none. */
export const useConfirmTotp = () =>
  useFactorChange(async (code: string) => {
    const { data } = await totpConfirm({ body: { code } });
    if (data.csrf_token) rememberCsrfToken(data.csrf_token);
    return data.recovery_codes;
  });

/** Lets codes of the app count no longer. */
export const useRemoveTotp = () =>
  useFactorChange<void, void>(async () => {
    await totpRemove();
  });

/** Fresh recovery codes in place of the earlier ones. */
export const useRenewRecoveryCodes = () =>
  useFactorChange<void, string[]>(async () => (await recoveryCodesCreate()).data.recovery_codes);

/** Has the browser make a passkey and registers it; gives recovery codes when there were none. */
export const useAddPasskey = () =>
  useFactorChange(async (name: string) => {
    const { data } = await passkeysCreate({ body: { name, credential: await makePasskey() } });
    if (data.csrf_token) rememberCsrfToken(data.csrf_token);
    return data.recovery_codes;
  });

/** Calls a passkey otherwise. */
export const useRenamePasskey = () =>
  useFactorChange(async ({ id, name }: { id: string; name: string }) => {
    await passkeysRename({ path: { passkey: id }, body: { name } });
  });

/** Removes a passkey. */
export const useRemovePasskey = () =>
  useFactorChange(async (id: string) => {
    await passkeysRemove({ path: { passkey: id } });
  });

/** Takes all second factors from somebody; they are signed out everywhere. */
export const useResetFactors = () =>
  useChange<string, unknown>(
    async (ref) => (await factorsReset({ path: { ref } })).data,
    ["users", "logins"],
  );
