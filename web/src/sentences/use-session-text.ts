import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Session } from "@/api/types";
import { CAUSES } from "./causes";
import { PHASES } from "./progress";
import { reasonIn } from "./reasons";

/** The server's messages about sessions: translated if known, else the server's own. */
export function useSessionText() {
  const { i18n } = useLingui();
  const { locale } = i18n;
  const reason = useCallback(
    (sentence: string): string =>
      locale === "en" ? sentence : (reasonIn((message) => i18n._(message), sentence) ?? sentence),
    [i18n, locale],
  );
  const cause = useCallback(
    (word: string): string => {
      const known = CAUSES[word];
      return known ? i18n._(known) : word;
    },
    [i18n],
  );
  const progress = useCallback(
    ({ phase, text }: NonNullable<Session["progress"]>): string => {
      const known = locale === "en" ? undefined : PHASES[phase];
      return known ? i18n._(known) : text;
    },
    [i18n, locale],
  );
  return { reason, cause, progress };
}
