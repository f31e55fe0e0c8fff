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
      // The server's message is English, and names the object.
      const known = i18n.locale === "en" ? undefined : PROBLEMS[problem.code];
      if (!known) return { detail: problem.message, hint: problem.hint };
      return { detail: i18n._(known.detail), hint: known.hint ? i18n._(known.hint) : null };
    },
    [t, i18n],
  );
}
