import { useLingui } from "@lingui/react/macro";
import type { Verdict } from "@/api/types";

/** The estimate in a word or two. */
export function useVerdictWord(): (verdict: Verdict) => string {
  const { t } = useLingui();
  return (verdict) =>
    ({ starts: t`starts now`, waits: t`waits`, never: t({ context: "would start", message: "never" }) })[
      verdict
    ];
}
