import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Schedule, ScheduleRun } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

/** What became of a run; that of its session is shown instead when it was started. */
export const OUTCOMES: Record<ScheduleRun["outcome"], { label: MessageDescriptor; look: StateLook }> = {
  started: { label: msg`Started`, look: "ok" },
  skipped: { label: msg`Skipped`, look: "cancelled" },
  refused: { label: msg`Refused`, look: "refused" },
};

export const OVERLAPS: Record<Schedule["overlap"], MessageDescriptor> = {
  allow: msg`Start it anyway`,
  forbid: msg`Skip the new run`,
  replace: msg`End the earlier session`,
};

export const MISSED: Record<Schedule["missed"], MessageDescriptor> = {
  skip: msg`Skip them`,
  run_once: msg`Run once for all of them`,
};
