import { useLingui } from "@lingui/react/macro";
import type { ScheduleRun } from "@/api/types";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { StateBadge } from "@/ui/StateBadge";
import { OUTCOMES } from "./words";

/** What became of a run: the state or result of its session, or why there is none. */
export function RunState({ run }: { run: ScheduleRun }) {
  const { i18n } = useLingui();
  if (run.state) return <SessionBadge state={run.state} result={run.result} />;
  const { label, look } = OUTCOMES[run.outcome];
  return (
    <StateBadge look={look} state={run.outcome}>
      {i18n._(label)}
    </StateBadge>
  );
}
