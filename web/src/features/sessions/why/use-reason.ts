import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { PROBLEMS } from "@/sentences/problems";
import { useSessionText } from "@/sentences/use-session-text";

/** Why something does not start, translated; by error code if the message is unknown. */
export function useReason(): (sentence: string, code?: string) => string {
  const { i18n } = useLingui();
  const { reason } = useSessionText();
  return useCallback(
    (sentence, code = "") => {
      const text = reason(sentence);
      const known = i18n.locale === "en" || text !== sentence ? undefined : PROBLEMS[code];
      return known ? i18n._(known.detail) : text;
    },
    [i18n, reason],
  );
}
