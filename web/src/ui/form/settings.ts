/** One setting of a back end, from the JSON schema of its plug-in. */
export interface Setting {
  name: string;
  kind: "text" | "lines" | "secret" | "secret lines" | "number" | "switch" | "choice" | "list";
  title: string;
  description: string;
  required: boolean;
  /** The default. */
  usual: unknown;
  example: unknown;
  choices: string[];
  min?: number;
  max?: number;
}

export type SettingValues = Readonly<Record<string, unknown>>;

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** The settings in a kind's JSON schema, in schema order. */
export function settingsOf(schema: unknown): Setting[] {
  if (!isSchema(schema) || !isSchema(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, one]) =>
    setting(name, isSchema(one) ? one : {}, required),
  );
}

function setting(name: string, schema: Schema, required: readonly unknown[]): Setting {
  return {
    name,
    kind: kindOf(schema),
    title: text(schema.title) || name,
    description: text(schema.description),
    required: required.includes(name),
    usual: schema.default,
    example: Array.isArray(schema.examples) ? schema.examples[0] : undefined,
    choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
    min: number(schema.minimum),
    max: number(schema.maximum),
  };
}

function kindOf(schema: Schema): Setting["kind"] {
  if (schema.writeOnly === true) return schema.format === "textarea" ? "secret lines" : "secret";
  if (Array.isArray(schema.enum)) return "choice";
  if (schema.type === "boolean") return "switch";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "array") return "list";
  return schema.format === "textarea" ? "lines" : "text";
}

/** The settings to send, without empty ones. */
export const givenSettings = (settings: readonly Setting[], values: SettingValues): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .map(({ name }) => [name, values[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ""),
  );

/** The changed settings of an existing back end; null resets one to its default. */
export const changedSettings = (
  settings: readonly Setting[],
  before: SettingValues,
  now: SettingValues,
): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .map(({ name }) => [name, sent(before[name]), sent(now[name])] as const)
      .filter(([, was, is]) => JSON.stringify(was) !== JSON.stringify(is))
      .map(([name, , is]) => [name, is]),
  );

const sent = (value: unknown): unknown => (value === undefined || value === "" ? null : value);

/** The CLI options for these settings. Secrets and long texts are prompted for, and omitted. */
export const settingWords = (settings: readonly Setting[], given: SettingValues): string[] =>
  settings
    .filter(({ name }) => given[name] !== undefined)
    .flatMap((setting) => words(setting, given[setting.name]));

function words({ name, kind }: Setting, value: unknown): string[] {
  const option = name.replaceAll("_", "-");
  if (value === null) return ["--unset", option];
  if (kind === "switch") return [value === true ? `--${option}` : `--no-${option}`];
  if (kind === "secret") return [`--${option}`, "-"];
  if (kind === "lines" || kind === "secret lines") return [`--${option}`, `${option}.txt`];
  if (Array.isArray(value))
    return (value.length > 0 ? value : [""]).flatMap((one) => [`--${option}`, String(one)]);
  return [`--${option}`, String(value)];
}
