import type { AuditFilter } from "@/queries/audit";
import { beginOf } from "@/routing/activity-span";
import type { AuditSearch } from "@/routing/search";

/** The query of the entries that match the search parameters of the page. */
export function auditFilter({ open: _, span, ...filter }: AuditSearch, now: Date): AuditFilter {
  const preset = span === "custom" ? undefined : beginOf(span, now);
  return preset ? { ...filter, from: preset, to: undefined } : filter;
}

/** The local date of an instant, as a date input has it; "" without one. */
export function dateText(instant: string | undefined): string {
  const at = new Date(instant ?? "");
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** The start of a local date, as an instant; undefined without one. */
export function startOf(date: string): string | undefined {
  const at = new Date(`${date}T00:00`);
  return date === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The end of a local date: entries until then belong to it. */
export function endOf(date: string): string | undefined {
  const at = new Date(`${date}T00:00`);
  if (date === "" || Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The last date before an end; the inverse of `endOf`. */
export function lastDateText(end: string | undefined): string {
  const at = Date.parse(end ?? "");
  return Number.isNaN(at) ? "" : dateText(new Date(at - 1).toISOString());
}
