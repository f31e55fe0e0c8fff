import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { toProblem } from "@/api/problem";
import { PROBLEMS } from "./problems";

export interface ProblemText {
  detail: string;
  hint: string | null;
}

/** The error message with the next step: translated if the code is known, else the server's own. */
export function useProblemText(): (thrown: unknown) => ProblemText {
  const { t, i18n } = useLingui();
  return useCallback(
    (thrown) => {
      const problem = toProblem(thrown);
      if (problem.code === "server.unreachable") {
        return {
          detail: t`The server does not respond.`,
          hint: t`Check the network, or whether the server is restarting, and try again.`,
        };
      }
      const known = PROBLEMS[problem.code];
      const missing = problem.code.endsWith(".not_found")
        ? t`It may have been renamed or removed. Look for it in the list.`
        : null;
      const hint = known?.hint ? i18n._(known.hint) : missing;
      // The server's message is English, and names the object. A CLI command is no help on the page.
      if (i18n.locale === "en" || !known) {
        return { detail: problem.message, hint: problem.hint?.includes("`carrel ") ? hint : problem.hint };
      }
      return { detail: i18n._(known.detail), hint };
    },
    [t, i18n],
  );
}
