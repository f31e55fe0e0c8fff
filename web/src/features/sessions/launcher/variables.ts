export interface EnvironmentRow {
  /** React key; not sent to the server. */
  key: string;
  name: string;
  value: string;
}

const PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;

let rows = 0;
export const environmentRow = (name = "", value = ""): EnvironmentRow => ({
  key: `row-${++rows}`,
  name,
  value,
});

/** The rows of the variables of a request. */
export const environmentRows = (env: Readonly<Record<string, unknown>>): EnvironmentRow[] =>
  Object.entries(env).map(([name, value]) => environmentRow(name, String(value)));

/** The part of a request; empty without variables. */
export function toEnvironment(rows: readonly EnvironmentRow[]): { env?: Record<string, string> } {
  const named = rows.filter(({ name }) => name !== "").map(({ name, value }) => [name, value]);
  return named.length > 0 ? { env: Object.fromEntries(named) } : {};
}

export type VariableFault = "malformed" | "repeated" | null;

/** The error of the name in one row; empty rows are ignored. */
export function variableFault(env: readonly EnvironmentRow[], index: number): VariableFault {
  const row = env[index];
  if (!row || (row.name === "" && row.value === "")) return null;
  if (!PATTERN.test(row.name)) return "malformed";
  return env.some((other, at) => at < index && other.name === row.name) ? "repeated" : null;
}

export const hasVariableFault = (env: readonly EnvironmentRow[]): boolean =>
  env.some((_, at) => variableFault(env, at) !== null);
