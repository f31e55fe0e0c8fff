import type { SessionUsageView } from "@/api/generated/types.gen";
import type { TimeRange } from "@/ui/chart/series";

export type UsedContainer = SessionUsageView["containers"][number];

/** The containers to compare: the chosen ones, or all. */
export function compared(
  containers: readonly UsedContainer[],
  chosen: readonly string[],
): readonly UsedContainer[] {
  const some = containers.filter(({ name }) => chosen.includes(name));
  return some.length > 0 ? some : containers;
}

/** The shown period: the zoom, or the minutes before the last point. */
export function shownRange(times: readonly number[], minutes: number, zoom: TimeRange | null): TimeRange {
  const end = times.at(-1) ?? 0;
  return zoom ?? [end - minutes * 60, end];
}
