import type { Session } from "@/api/types";

const COLUMNS: [string, (session: Session) => string | number | null][] = [
  ["id", (s) => s.id],
  ["name", (s) => s.name],
  ["state", (s) => s.state],
  ["reason", (s) => s.reason],
  ["image", (s) => s.image],
  ["cpu_millis", (s) => s.slots.cpu ?? null],
  ["mem_bytes", (s) => s.slots.mem ?? null],
  ["project", (s) => s.project.name],
  ["owner", (s) => s.owner.email],
  ["node", (s) => s.node],
  ["created_at", (s) => s.created_at],
  ["started_at", (s) => s.started_at],
  ["ended_at", (s) => s.ended_at],
];

/** The sessions as CSV (RFC 4180) with a header row. */
export function toCsv(sessions: Session[]): string {
  const rows = sessions.map((session) => COLUMNS.map(([, read]) => cell(read(session))).join(","));
  return [COLUMNS.map(([name]) => name).join(","), ...rows, ""].join("\r\n");
}

function cell(value: string | number | null | undefined): string {
  let text = value == null ? "" : String(value);
  // A spreadsheet would run these as a formula; the apostrophe makes it text.
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
