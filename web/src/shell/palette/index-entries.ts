import type { I18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { IconBox, IconLanguage, IconSettings } from "@tabler/icons-react";
import type { Me } from "@/api/types";
import { LANGUAGES, type Language } from "@/i18n";
import { may } from "@/me/may";
import { goTo, type PaletteEntry } from "./entry";
import { PAGES } from "./pages";
import { OWN_SETTINGS, SITE_SETTINGS } from "./settings";
import { VERBS } from "./verbs";

/** Every entry that needs no request: actions, pages and settings that the user may see. */
export function indexEntries(me: Me, i18n: I18n): PaletteEntry[] {
  return [...actions(me, i18n), ...pages(me, i18n), ...ownSettings(me, i18n), ...siteSettings(me, i18n)];
}

function actions(me: Me, i18n: I18n): PaletteEntry[] {
  const verbs = VERBS.filter(({ shown }) => shown?.(me) ?? true).map(
    ({ id, title, section, synonyms, icon, does }): PaletteEntry => ({
      id,
      kind: "action",
      title: i18n._(title),
      section: section && i18n._(section),
      synonyms,
      icon,
      does,
    }),
  );
  const languages = (Object.keys(LANGUAGES) as Language[]).map(
    (language): PaletteEntry => ({
      id: `language:${language}`,
      kind: "action",
      title: LANGUAGES[language],
      section: i18n._(msg`Language`),
      synonyms: ["change language", "switch language", NAMES[language]],
      icon: IconLanguage,
      does: { act: "language", language },
    }),
  );
  const projects = me.projects.length > 1 ? me.projects : [];
  const switches = projects.map(
    ({ id, name }): PaletteEntry => ({
      id: `switch:${id}`,
      kind: "action",
      title: t(i18n)`Switch to project ${name}`,
      synonyms: ["change project"],
      icon: IconBox,
      does: { act: "project", id },
    }),
  );
  return [...verbs, ...languages, ...switches];
}

const NAMES: Record<Language, string> = { en: "english", ko: "korean", ja: "japanese" };

function pages(me: Me, i18n: I18n): PaletteEntry[] {
  return PAGES.filter(({ shown }) => shown?.(me) ?? true).map(
    ({ id, title, section, synonyms, icon, shown: _, ...target }) => ({
      id,
      kind: "page",
      title: i18n._(title),
      section: section && i18n._(section),
      synonyms,
      icon,
      does: goTo(target),
    }),
  );
}

function ownSettings(me: Me, i18n: I18n): PaletteEntry[] {
  return OWN_SETTINGS.filter(({ shown }) => shown?.(me) ?? true).map(
    ({ title, section, synonyms, to, hash }) => ({
      id: `${to}#${hash}`,
      kind: "setting",
      title: i18n._(title),
      section: `${i18n._(msg`Your settings`)} › ${i18n._(section)}`,
      synonyms,
      icon: IconSettings,
      does: goTo({ to, hash }),
    }),
  );
}

function siteSettings(me: Me, i18n: I18n): PaletteEntry[] {
  if (!may(me, "site.read")) return [];
  return Object.entries(SITE_SETTINGS).map(([name, { title, section, synonyms }]) => ({
    id: `site#${name}`,
    kind: "setting",
    title: i18n._(title),
    section: `${i18n._(msg`Configuration`)} › ${i18n._(section)}`,
    synonyms,
    icon: IconSettings,
    does: goTo({ to: "/site", hash: name }),
  }));
}
