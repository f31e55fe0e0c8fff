import type { StatisticsQuery } from "@/queries/usage";

/** The download URL of these statistics. */
export function statisticsFile(query: StatisticsQuery): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) words.set(name, value);
  }
  return `/api/v1/usage/statistics/export?${words}`;
}
