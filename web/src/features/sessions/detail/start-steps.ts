import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { TimelineStep } from "@/api/types";
import { formatDuration, inUnit } from "@/ui/format";

export const STEP_WORDS: Record<TimelineStep["step"], MessageDescriptor> = {
  queue: msg`Queue`,
  mounts: msg`Folders`,
  image: msg`Image`,
  container: msg`Container`,
  barrier: msg`Waiting for the others`,
  app: msg`App`,
};

/** "340 ms", "2.4 s", then as other durations. */
export function formatLasted(lasted: number, locale: string): string {
  if (lasted >= 60_000) return formatDuration(lasted, locale);
  return lasted < 1000
    ? inUnit(lasted, "millisecond", locale, "short", { maximumFractionDigits: 0 })
    : inUnit(lasted / 1000, "second", locale, "short", { maximumFractionDigits: 1 });
}
