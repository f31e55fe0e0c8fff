import type { I18n, MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Setting } from "@/ui/form/settings";

interface Words {
  title: MessageDescriptor;
  text: MessageDescriptor;
}

interface KindWords extends Words {
  settings: Record<string, Words>;
}

/** The built-in kinds; plug-ins bring their own texts. */
const OURS: Record<string, KindWords> = {
  docker: {
    title: msg`Docker or Podman`,
    text: msg`Docker, or Podman through its compatible socket.`,
    settings: {
      url: { title: msg`Address`, text: msg`Socket or address of the daemon, as in DOCKER_HOST.` },
      addresses: {
        title: msg`Address range`,
        text: msg`Range that the networks of sessions are cut from.`,
      },
    },
  },
};

/** The name of a kind, translatedEngineSettings where a translation exists. */
export const engineKindTitle = (i18n: I18n, kind: string, given: string): string =>
  OURS[kind] ? i18n._(OURS[kind].title) : given;

/** What a kind is. */
export const kindText = (i18n: I18n, kind: string, given: string): string =>
  OURS[kind] ? i18n._(OURS[kind].text) : given;

/** The name of a setting; for that of another plug-in, its own. */
export function settingTitle(i18n: I18n, kind: string, setting: string): string {
  const words = OURS[kind]?.settings[setting];
  return words ? i18n._(words.title) : setting;
}

/** The settings of a kind, translatedEngineSettings where a translation exists. */
export const translatedEngineSettings = (i18n: I18n, kind: string, settings: readonly Setting[]): Setting[] =>
  settings.map((setting) => {
    const words = OURS[kind]?.settings[setting.name];
    return words ? { ...setting, title: i18n._(words.title), description: i18n._(words.text) } : setting;
  });
