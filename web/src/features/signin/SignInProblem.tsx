import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Problem, toProblem } from "@/api/problem";
import { formatDuration } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useNow } from "@/ui/use-now";

/** Why signing in was refused; for a lockout, with the remaining time. */
export function SignInProblem({ problem: thrown }: { problem: unknown }) {
  const problem = toProblem(thrown);
  const wait = problem.details.retry_after_s;
  return typeof wait === "number" ? (
    <Locked key={problem.requestId} problem={problem} waitS={wait} />
  ) : (
    <ProblemAlert problem={problem} />
  );
}

function Locked({ problem, waitS }: { problem: Problem; waitS: number }) {
  const { t, i18n } = useLingui();
  const [until] = useState(() => Date.now() + waitS * 1000);
  const left = Math.max(0, Math.ceil((until - useNow()) / 1000));
  const time = formatDuration(left * 1000, i18n.locale);
  const { status, code, requestId } = problem;
  const detail =
    code === "auth.locked" ? t`Too many failed attempts. Sign-in is locked.` : t`Too many requests.`;
  const hint =
    left > 0 ? t`You can try again in ${time}, or ask an administrator.` : t`You can try again now.`;
  return <ProblemAlert problem={new Problem({ status, code, detail, hint, requestId })} spoken />;
}
