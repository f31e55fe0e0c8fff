import type { Parameter, Template } from "@/api/types";
import { commandLine } from "@/ui/command";

/** The texts that a form begins with, by parameter: the defaults. */
export function initialValues(parameters: readonly Parameter[]): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, type, default: value }) => [
      name,
      value == null ? (type === "boolean" ? "false" : "") : String(value),
    ]),
  );
}

export type ValueFault = "missing" | "integer" | "number" | "least" | "most";

/** What is wrong with the text of a parameter, as far as the page can check. */
export function valueFault(parameter: Parameter, text: string): ValueFault | null {
  const { type, min, max, default: value } = parameter;
  if (text.trim() === "") return value == null ? "missing" : null;
  if (type !== "integer" && type !== "number") return null;
  const number = Number(text);
  if (Number.isNaN(number)) return type;
  if (type === "integer" && !Number.isInteger(number)) return "integer";
  if (min != null && number < min) return "least";
  return max != null && number > max ? "most" : null;
}

/** The values that differ from the defaults, or have none. */
export function givenValues(
  parameters: readonly Parameter[],
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  const initial = initialValues(parameters);
  const given = parameters.filter(({ name, type, default: value }) => {
    const text = values[name] ?? "";
    if (value == null) return text !== "" || type === "boolean";
    // An empty text is a value of its own; other fields that are empty take the default.
    return text !== initial[name] && (text !== "" || type === "text");
  });
  return Object.fromEntries(given.map(({ name }) => [name, values[name] ?? ""]));
}

/** The CLI command of a start. */
export const startCommand = (
  template: Pick<Template, "id" | "name" | "parameters">,
  values: Readonly<Record<string, string>>,
  name: string,
): string =>
  commandLine(
    ...["carrel", "template", "start", template.name],
    ...Object.entries(givenValues(template.parameters, values)).flatMap(([one, text]) => [
      "-p",
      `${one}=${text}`,
    ]),
    ...(name ? ["--name", name] : []),
  );

/** The text of a definition for a literal text: dollars before a brace are doubled. */
export const escapeReferences = (text: string): string => text.replace(/(\$+)\{/g, "$1$1{");

/** A request as a definition: all of its texts are taken literally. */
export function literal<T>(value: T): T {
  if (typeof value === "string") return escapeReferences(value) as T;
  if (Array.isArray(value)) return value.map(literal) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, literal(each)])) as T;
}
