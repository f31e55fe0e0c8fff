export const SPANS = ["day", "week", "month", "all"] as const;
export type Span = (typeof SPANS)[number];

const DAYS: Record<Exclude<Span, "all">, number> = { day: 1, week: 7, month: 30 };

/**
 * The start of a time span that ends now, rounded to the minute to keep the query key stable; undefined for
 * all time.
 */
export function beginOf(span: Span | undefined, now: Date): string | undefined {
  if (!span || span === "all") return undefined;
  const begin = now.getTime() - DAYS[span] * 86_400_000;
  return new Date(Math.floor(begin / 60_000) * 60_000).toISOString();
}
