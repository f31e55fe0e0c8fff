import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { AuditEntry } from "@/api/types";
import { entryText, refusalText } from "./entry-text";
import type { Voice } from "./voice";

export function useVoice(): Voice {
  const { i18n } = useLingui();
  const { locale } = i18n;
  return useMemo(() => ({ say: (message) => i18n._(message), locale }), [i18n, locale]);
}

/** What an entry tells, and why it was refused ("" if it was not). */
export function useEntryText(entry: AuditEntry): { text: string; reason: string } {
  const voice = useVoice();
  return { text: entryText(entry, voice), reason: refusalText(entry, voice) };
}
