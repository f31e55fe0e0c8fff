export const SPANS = ["hour", "day", "week", "month", "all"] as const;
export type ActivitySpan = (typeof SPANS)[number];

const HOURS: Record<Exclude<ActivitySpan, "all">, number> = {
  hour: 1,
  day: 24,
  week: 7 * 24,
  month: 30 * 24,
};

/**
 * The start of a time span that ends now, rounded to the minute to keep the query key stable; undefined for
 * all time.
 */
export function beginOf(span: ActivitySpan | undefined, now: Date): string | undefined {
  if (!span || span === "all") return undefined;
  const begin = now.getTime() - HOURS[span] * 3_600_000;
  return new Date(Math.floor(begin / 60_000) * 60_000).toISOString();
}
