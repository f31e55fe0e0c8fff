import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { type Problem, toProblem } from "@/api/problem";

export interface ProblemText {
  detail: string;
  hint: string | null;
}

/** What went wrong and the next step, in the page's language where we know the code, else in the server's words. */
export function useProblemText(): (thrown: unknown) => ProblemText {
  const { t } = useLingui();
  return useCallback(
    (thrown) => {
      const problem: Problem = toProblem(thrown);
      if (problem.code === "server.unreachable") {
        return {
          detail: t`The server does not answer.`,
          hint: t`Check the network, or whether the server is being restarted, and try again.`,
        };
      }
      return { detail: problem.message, hint: problem.hint };
    },
    [t],
  );
}
