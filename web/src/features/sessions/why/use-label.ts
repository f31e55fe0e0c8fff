import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { labelIn } from "@/sentences/labels";

/** The scope of a limit, translated. */
export function useLabel(): (label: string) => string {
  const { i18n } = useLingui();
  return useCallback((label) => labelIn((message) => i18n._(message), label), [i18n]);
}
