import Papa from "papaparse";
import type { DraftUser, UserMade } from "@/api/types";

/** The requested users and the result for each. */
export interface Outcome {
  rows: DraftUser[];
  made: UserMade[];
}

/** The columns of a CSV of users, in template order. */
export const CSV_COLUMNS = [
  "email",
  "name",
  "password",
  "role",
  "state",
  "domain",
  "projects",
  "must_change_password",
  "addresses",
  "description",
] as const;
type CsvColumn = (typeof CSV_COLUMNS)[number];

const ALSO: Record<string, CsvColumn> = {
  "e-mail": "email",
  mail: "email",
  username: "name",
  "full name": "name",
  full_name: "name",
  project: "projects",
  address: "addresses",
  status: "state",
  "change password": "must_change_password",
};

export const CSV_TEMPLATE = `${CSV_COLUMNS.join(",")}\r\nada@example.org,Ada Lovelace,,user,active,,"vision;speech",yes,,\r\n`;

export interface Parsed {
  rows: DraftUser[];
  /** Unknown column titles; their values are ignored. */
  unknown: string[];
  /** No column has the e-mails. */
  noEmail: boolean;
}

/** The users in a CSV with a header; titles are case-insensitive. */
export function parseUsers(text: string): Parsed {
  const { data, meta } = Papa.parse<Record<string, string>>(text.trim(), {
    header: true,
    skipEmptyLines: "greedy",
    transformHeader: (title) => title.trim().toLowerCase(),
  });
  const columns = new Map<string, CsvColumn>();
  const unknown: string[] = [];
  for (const title of meta.fields ?? []) {
    const column = CSV_COLUMNS.find((one) => one === title) ?? ALSO[title];
    if (column) columns.set(title, column);
    else if (title) unknown.push(title);
  }
  const noEmail = ![...columns.values()].includes("email");
  return { rows: noEmail ? [] : data.map((row) => draft(row, columns)), unknown, noEmail };
}

function draft(row: Record<string, string>, columns: Map<string, CsvColumn>): DraftUser {
  const values: Record<string, unknown> = {};
  for (const [title, column] of columns) {
    const text = (row[title] ?? "").trim();
    if (text === "") continue;
    if (column === "projects" || column === "addresses") {
      values[column] = text
        .split(";")
        .map((one) => one.trim())
        .filter(Boolean);
    } else if (column === "must_change_password") {
      values[column] = /^(yes|true|1|y|on)$/i.test(text);
    } else if (column === "role" || column === "state") {
      values[column] = text.toLowerCase().replaceAll(" ", "_");
    } else {
      values[column] = text;
    }
  }
  return values;
}

export const MOST_BY_PATTERN = 100;

/** Numbered users, zero-padded to the length of the last number: "lab01@example.org". */
export function patternUsers({
  prefix,
  suffix,
  count,
}: {
  prefix: string;
  suffix: string;
  count: number;
}): DraftUser[] {
  const width = String(count).length;
  const domain = suffix.trim().replace(/^@/, "");
  if (prefix.trim() === "" || domain === "" || !(count >= 1 && count <= MOST_BY_PATTERN)) return [];
  return Array.from({ length: count }, (_, at) => {
    const name = prefix.trim() + String(at + 1).padStart(width, "0");
    return { email: `${name}@${domain}`, name };
  });
}

/** Splits a list into chunks of at most this size. */
export function pieces<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
}
