import type { AuditFilter } from "@/queries/audit";

/** The download URL of these entries. */
export function exportAddress(filter: AuditFilter, format: "csv" | "jsonl"): string {
  const query = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return `/api/v1/audit/export?${query}`;
}
