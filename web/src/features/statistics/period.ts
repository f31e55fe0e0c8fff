/** A month as "2026-01". */
export type Month = string;

const MONTHS = 24;
const twoDigits = (value: number) => String(value).padStart(2, "0");

/** This month and those before it, the newest first; in UTC, like the days of the statistics. */
export function recentMonths(now: Date): Month[] {
  const count = now.getUTCFullYear() * 12 + now.getUTCMonth();
  return Array.from({ length: MONTHS }, (_, ago) => {
    const at = count - ago;
    return `${Math.floor(at / 12)}-${twoDigits((at % 12) + 1)}`;
  });
}

/** The first and the last day of a month. */
export function daysOf(month: Month): { from: string; to: string } {
  const [year = 0, number = 0] = month.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { from: `${month}-01`, to: `${month}-${twoDigits(last)}` };
}

/** Every day of the period, both inclusive. */
export function everyDay(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}
