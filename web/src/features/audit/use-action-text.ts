import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { ACTION_SENTENCES } from "@/sentences/actions";

/** What an action is, in the page's language; its name where this page does not know it. */
export function useActionText(): (action: string) => string {
  const { i18n } = useLingui();
  return useCallback(
    (action) => {
      const sentence = (ACTION_SENTENCES as Partial<Record<string, (typeof ACTION_SENTENCES)["auth.me"]>>)[
        action
      ];
      return sentence ? i18n._(sentence) : action;
    },
    [i18n],
  );
}
