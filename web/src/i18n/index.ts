import { i18n, type Messages } from "@lingui/core";
import { loadAgain } from "@/routing/load-again";

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

type Catalogues = Record<string, () => Promise<{ messages: Messages }>>;

// The messages of the first download, and those that only code which is loaded later has: see tools/catalogue-parts.ts.
const FIRST = import.meta.glob("./locales/*.po", { query: "?first.po" }) as Catalogues;
const REST = import.meta.glob("./locales/*.po", { query: "?rest.po" }) as Catalogues;

let parts = [FIRST];
let chosen: Language = "en";
let more: Promise<void> | null = null;

/** Activates a language; downloads only its messages, and of them only those of the code that is loaded. */
export async function activateLanguage(language: Language): Promise<void> {
  chosen = language;
  await Promise.all(parts.map((part) => loadMessages(part, language)));
  i18n.activate(language);
  document.documentElement.lang = language;
}

/** Loads the messages of code that is not in the first download. Twice: no-op. */
export function loadMoreMessages(): Promise<void> {
  parts = [FIRST, REST];
  more ??= loadMessages(REST, chosen).catch((problem) => {
    more = null;
    throw problem;
  });
  return more;
}

async function loadMessages(part: Catalogues, language: Language): Promise<void> {
  const load = part[`./locales/${language}.po`];
  if (load) i18n.load(language, { ...(await loadAgain(load)).messages });
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
