/** One setting of a back end, as the JSON schema of its plug-in describes it. */
export interface Setting {
  name: string;
  kind: "text" | "secret" | "number" | "switch" | "choice" | "list";
  title: string;
  description: string;
  required: boolean;
  /** What holds where nothing is given. */
  usual: unknown;
  choices: string[];
  min?: number;
  max?: number;
}

export type SettingValues = Readonly<Record<string, unknown>>;

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** The settings of a schema as the server gives them (`settings` of a kind), in its order. */
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
    choices: Array.isArray(schema.enum) ? schema.enum.map(String) : [],
    min: number(schema.minimum),
    max: number(schema.maximum),
  };
}

function kindOf(schema: Schema): Setting["kind"] {
  if (schema.writeOnly === true) return "secret";
  if (Array.isArray(schema.enum)) return "choice";
  if (schema.type === "boolean") return "switch";
  if (schema.type === "integer" || schema.type === "number") return "number";
  return schema.type === "array" ? "list" : "text";
}

/** What is sent: what was given of these settings, without what was left empty. */
export const givenSettings = (settings: readonly Setting[], values: SettingValues): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .map(({ name }) => [name, values[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ""),
  );

/** `--set key=value` for the command line; a secret is not shown. */
export const settingWords = (settings: readonly Setting[], given: SettingValues): string[] =>
  settings
    .filter(({ name }) => given[name] !== undefined)
    .flatMap(({ name, kind }) => [
      "--set",
      `${name}=${kind === "secret" ? "..." : [given[name]].flat().join(",")}`,
    ]);
