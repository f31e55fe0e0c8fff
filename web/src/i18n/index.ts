import { i18n } from "@lingui/core";
import { loadAgain } from "@/routing/part";

export const LANGUAGES = { en: "English", ko: "한국어", ja: "日本語" } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = "carrel.language";

function isLanguage(value: string | null | undefined): value is Language {
  return value != null && value in LANGUAGES;
}

/** The stored language, else the browser's first supported language, else English. */
export function preferredLanguage(): Language {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // Storage may be blocked; fall back to the browser's languages.
  }
  return isLanguage(stored) ? stored : browserLanguage();
}

/** The browser's first supported language, else English. */
export function browserLanguage(): Language {
  const spoken = navigator.languages.map((tag) => tag.split("-")[0]);
  return spoken.find(isLanguage) ?? "en";
}

/** Activates a language; downloads only its catalogue. */
export async function activateLanguage(language: Language): Promise<void> {
  const { messages } = await loadAgain(() => import(`./locales/${language}.po`));
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
}

/** Activates a language and stores it in this browser. */
export async function chooseLanguage(language: Language): Promise<void> {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  await activateLanguage(language);
}

export { i18n };
