import { useLingui } from "@lingui/react/macro";
import { Problem } from "@/api/problem";
import { PROBLEMS } from "@/sentences/problems";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  code: string;
  provider: string | undefined;
}

/** Why signing in through a provider failed. The provider returns only a code, no text of its own. */
export function FailedElsewhere({ code, provider }: Props) {
  const { t, i18n } = useLingui();
  const known = PROBLEMS[code];
  const name = provider ?? "";
  const problem = new Problem({
    status: 403,
    code,
    detail: known ? i18n._(known.detail) : t`Could not sign in with ${name}.`,
    hint: known?.hint ? i18n._(known.hint) : t`Try again, or ask an administrator.`,
  });
  return <ProblemAlert problem={problem} spoken />;
}
