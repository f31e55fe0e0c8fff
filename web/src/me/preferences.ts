import { useMantineColorScheme } from "@mantine/core";
import type { QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { profileUpdate } from "@/api/generated/sdk.gen";
import type { Me, Preferences } from "@/api/types";
import { browserLanguage, chooseLanguage, i18n, type Language } from "@/i18n";
import { authMeQuery } from "@/queries/auth";
import { useUpdateProfile } from "@/queries/profile";

/** The language chosen on the sign-in page, for the person who signs in. */
let wished: Language | null = null;

/** Chooses a language before anybody is signed in. */
export function wishLanguage(language: Language): void {
  wished = language;
  void chooseLanguage(language);
}

/** Keeps the language that was chosen on the sign-in page, if one was, for the person who has signed in now. */
export async function saveWishedLanguage(client: QueryClient): Promise<void> {
  const language = wished;
  if (!language) return;
  wished = null;
  // At once, or the shell would switch to what was kept before.
  client.setQueryData(
    authMeQuery.queryKey,
    (me: Me | undefined) =>
      me && { ...me, user: { ...me.user, preferences: { ...me.user.preferences, language } } },
  );
  await profileUpdate({ body: { preferences: { language } } }).catch(() => undefined);
}

/** Shows the page as the person likes it on every device; what they never chose stays as this browser has it. */
export function useOwnPreferences(me: Me): void {
  const { setColorScheme } = useMantineColorScheme();
  const { language, theme } = me.user.preferences ?? {};
  useEffect(() => {
    if (language && language !== i18n.locale) void chooseLanguage(language);
  }, [language]);
  useEffect(() => {
    if (theme) setColorScheme(theme);
  }, [theme, setColorScheme]);
}

/** Chooses language and theme: here at once, and on every other device through the server. */
export function usePreferences() {
  const { setColorScheme } = useMantineColorScheme();
  const { mutate } = useUpdateProfile();
  /** Null: as each browser has it. */
  const setLanguage = useCallback(
    (language: Language | null) => {
      void chooseLanguage(language ?? browserLanguage());
      mutate({ preferences: { language } });
    },
    [mutate],
  );
  const setTheme = useCallback(
    (theme: NonNullable<Preferences["theme"]>) => {
      setColorScheme(theme);
      mutate({ preferences: { theme } });
    },
    [mutate, setColorScheme],
  );
  return { setLanguage, setTheme };
}
