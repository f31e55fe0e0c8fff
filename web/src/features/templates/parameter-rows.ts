import type { Parameter, ParameterType } from "@/api/types";

export const TYPES = [
  "text",
  "integer",
  "number",
  "choice",
  "boolean",
  "folder",
  "image",
] as const satisfies readonly ParameterType[];

/** A parameter in the form. Texts are empty where the parameter has no value. */
export interface ParameterRow {
  /** React key; not sent to the server. */
  key: string;
  name: string;
  type: ParameterType;
  description: string;
  /** An empty default means that a start must give a value. */
  default: string;
  min: string;
  max: string;
  /** Separated by commas. */
  choices: string;
}

let rows = 0;

export const parameterRow = (parameter?: Parameter): ParameterRow => ({
  key: `parameter-${++rows}`,
  name: parameter?.name ?? "",
  type: parameter?.type ?? "text",
  description: parameter?.description ?? "",
  default: parameter?.default == null ? "" : String(parameter.default),
  min: parameter?.min == null ? "" : String(parameter.min),
  max: parameter?.max == null ? "" : String(parameter.max),
  choices: (parameter?.choices ?? []).join(", "),
});

const isNumeric = (type: ParameterType) => type === "integer" || type === "number";

const number = (text: string) => (text.trim() === "" ? undefined : Number(text));

/** The parameter as the API takes it. */
export function toParameter(row: ParameterRow): Parameter {
  const { name, type, description } = row;
  const numeric = isNumeric(type);
  const choices = row.choices.split(",").map((choice) => choice.trim());
  const limits = numeric ? { min: number(row.min), max: number(row.max) } : {};
  return {
    name: name.trim(),
    type,
    ...(description ? { description } : {}),
    ...(row.default === "" ? {} : { default: numeric ? number(row.default) : row.default }),
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
    ...(type === "choice" ? { choices: choices.filter((choice) => choice !== "") } : {}),
  };
}
