/** The columns of an export: a stable name for programs, and the raw value in base units. */
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
  // Prefix formulas with an apostrophe, so that spreadsheets treat them as text.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
