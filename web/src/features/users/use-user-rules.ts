import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { UserValues } from "./form-values";

/** Client-side validation of a user's fields. */
export function useUserRules() {
  const { t } = useLingui();
  return useMemo(
    () => ({
      email: (email: string) =>
        /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? null : t`Enter an e-mail address, such as ada@example.org.`,
      name: (name: string) => (name.trim() === "" ? t`Enter a name.` : null),
      password: (password: string, { way }: UserValues) =>
        way === "password" && password === "" ? t`Enter a password, or choose another first sign-in.` : null,
    }),
    [t],
  );
}
