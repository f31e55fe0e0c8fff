import { useMantineColorScheme } from "@mantine/core";
import type { QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { profileUpdate } from "@/api/generated/sdk.gen";
import type { Me, Preferences } from "@/api/types";
import { browserLanguage, chooseLanguage, i18n, type Language } from "@/i18n";
import { authMeQuery } from "@/queries/auth";
import { useUpdateProfile } from "@/queries/profile";

/** The language chosen on the sign-in page, for the user who signs in. */
let chosenBeforeSignIn: Language | null = null;

/** Chooses a language before sign-in. */
export function chooseLanguageBeforeSignIn(language: Language): void {
  chosenBeforeSignIn = language;
  void chooseLanguage(language);
}

/** Saves the language chosen on the sign-in page, if any, for the user who has signed in. */
export async function saveLanguageChosenBeforeSignIn(client: QueryClient): Promise<void> {
  const language = chosenBeforeSignIn;
  if (!language) return;
  chosenBeforeSignIn = null;
  // Before the response, or the shell would switch back to the stored language.
  client.setQueryData(
    authMeQuery.queryKey,
    (me: Me | undefined) =>
      me && { ...me, user: { ...me.user, preferences: { ...me.user.preferences, language } } },
  );
  await profileUpdate({ body: { preferences: { language } } }).catch(() => undefined);
}

/** Applies the user's stored preferences; unset ones stay as in this browser. */
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

/** Sets language, theme and notifications: here at once, and on other devices through the server. */
export function usePreferences() {
  const { setColorScheme } = useMantineColorScheme();
  const { mutate } = useUpdateProfile();
  /** Null: as in each browser. */
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
  const setNotifications = useCallback(
    (notifications: NonNullable<Preferences["notifications"]>) => mutate({ preferences: { notifications } }),
    [mutate],
  );
  return { setLanguage, setTheme, setNotifications };
}
