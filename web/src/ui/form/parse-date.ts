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
