import type { AuditSearch } from "@/app/search";

/** Where the file with these entries is. */
export function exportAddress(search: AuditSearch, format: "csv" | "jsonl"): string {
  const wanted = new URLSearchParams({ format });
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined) wanted.set(name, value);
  }
  return `/api/v1/audit/export?${wanted}`;
}
