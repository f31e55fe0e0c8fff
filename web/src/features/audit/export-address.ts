import type { AuditSearch } from "@/routing/search";

/** The download URL of these entries. */
export function exportAddress({ open: _, ...filters }: AuditSearch, format: "csv" | "jsonl"): string {
  const query = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(filters)) {
    if (value !== undefined) query.set(name, value);
  }
  return `/api/v1/audit/export?${query}`;
}
