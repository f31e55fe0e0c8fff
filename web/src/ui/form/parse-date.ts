import dayjs from "dayjs";

/** Year, month and day in this order, with any separators: 2026-11-24, 2026. 11. 24., 2026年11月24日. */
const DATE = /^\s*(\d{4})\D+(\d{1,2})\D+(\d{1,2})\D*$/;

/** A typed date as YYYY-MM-DD; null if it is incomplete or does not exist. */
export function parseDate(text: string): string | null {
  const [year, month, day] = (DATE.exec(text) ?? []).slice(1).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return date.toISOString().slice(0, 10);
}

/** Whether the date is allowed; "" as a bound allows all. */
export const isDateWithin = (date: string, min: string, max: string): boolean =>
  (min === "" || date >= min) && (max === "" || date <= max);

/** The allowed date that is nearest. */
export function within(date: string, min: string, max: string): string {
  if (min !== "" && date < min) return min;
  return max !== "" && date > max ? max : date;
}

/** Today in the time zone of the browser, as YYYY-MM-DD. */
export const today = (): string => dayjs().format("YYYY-MM-DD");
