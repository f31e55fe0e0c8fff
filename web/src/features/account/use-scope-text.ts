import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { labelOf } from "@/features/audit/sentences/nouns";
import { useKindText } from "@/sentences/kinds";
import { actionKind, onlyReads } from "./scopes";

/** A scope of a token in words, such as "Sessions: read". */
export function useScopeText(): (scope: string) => string {
  const { t, i18n } = useLingui();
  const kindText = useKindText();
  return useCallback(
    (scope) => {
      if (scope === "*") return t`All permissions`;
      const kind = kindText(actionKind(scope));
      if (scope.endsWith(".*")) return t`${kind}: all`;
      if (onlyReads(scope)) return t`${kind}: read`;
      const label = labelOf(scope);
      const what = label && i18n._(label).toLocaleLowerCase(i18n.locale);
      return what ? t`${kind}: ${what}` : scope;
    },
    [t, i18n, kindText],
  );
}
