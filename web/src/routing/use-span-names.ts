import { useLingui } from "@lingui/react/macro";
import type { ActivitySpan } from "./activity-span";

/** The names of the time spans that end now. */
export function useSpanNames(): Record<ActivitySpan, string> {
  const { t } = useLingui();
  return {
    hour: t`Last hour`,
    day: t`Last 24 hours`,
    week: t`Last 7 days`,
    month: t`Last 30 days`,
    all: t`Any time`,
  };
}
