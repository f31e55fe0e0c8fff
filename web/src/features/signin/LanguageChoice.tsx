import { useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { LANGUAGES, type Language } from "@/i18n";
import { chooseLanguageBeforeSignIn } from "@/me/preferences";

/** The languages under their own names. */
export function LanguageChoice() {
  const { t, i18n } = useLingui();
  return (
    <Group gap={4} justify="center" role="group" aria-label={t`Language`}>
      {(Object.keys(LANGUAGES) as Language[]).map((language) => (
        <Button
          key={language}
          lang={language}
          variant={i18n.locale === language ? "light" : "subtle"}
          color={i18n.locale === language ? undefined : "gray"}
          size="compact-sm"
          aria-pressed={i18n.locale === language}
          onClick={() => chooseLanguageBeforeSignIn(language)}
        >
          {LANGUAGES[language]}
        </Button>
      ))}
    </Group>
  );
}
