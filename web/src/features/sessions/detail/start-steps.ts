import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { StartStep } from "@/api/types";
import { formatDuration } from "@/ui/format";

export const STEP_WORDS: Record<StartStep["step"], MessageDescriptor> = {
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
  const [value, unit] = lasted < 1000 ? [lasted, "millisecond"] : [lasted / 1000, "second"];
  const style = {
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumFractionDigits: unit === "second" ? 1 : 0,
  };
  return new Intl.NumberFormat(locale, style as Intl.NumberFormatOptions).format(value);
}
