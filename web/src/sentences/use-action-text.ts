import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { ACTION_SENTENCES } from "@/sentences/actions";

/** The translated description of an action; its code if unknown. */
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
