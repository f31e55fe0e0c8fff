import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { UserValues } from "./form-values";

/** What can be said of the fields of a user without asking the server. */
export function useUserRules() {
  const { t } = useLingui();
  return useMemo(
    () => ({
      email: (email: string) => (/^[^\s@]+@[^\s@]+$/.test(email.trim()) ? null : t`Such as ada@example.org`),
      name: (name: string) => (name.trim() === "" ? t`A name is needed.` : null),
      password: (password: string, { way }: UserValues) =>
        way === "password" && password === "" ? t`Write a password, or choose another way.` : null,
    }),
    [t],
  );
}
