/** The columns of an export: a stable name for programs, and the plain value in base units. */
export type CsvFields<T> = readonly (readonly [
  name: string,
  read: (row: T) => string | number | boolean | null | undefined,
])[];

/** The rows as CSV (RFC 4180) with a header row. */
export function toCsv<T>(rows: T[], fields: CsvFields<T>): string {
  const lines = rows.map((row) => fields.map(([, read]) => cell(read(row))).join(","));
  return [fields.map(([name]) => name).join(","), ...lines, ""].join("\r\n");
}

function cell(value: string | number | boolean | null | undefined): string {
  let text = value == null ? "" : String(value);
  // A spreadsheet would run these as a formula; the apostrophe makes it text.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
