import { commandLine } from "@/ui/command";
import { freshProvider, type ProviderValues } from "./form-values";

/** The line that sets up the same provider; its secret is read and never on the line. */
export function providerCommand(values: ProviderValues, existing: boolean): string {
  const usual = freshProvider("")[values.kind] as Record<string, unknown>;
  const settings = Object.entries(values[values.kind])
    .filter(([name, value]) => name !== "ca" && JSON.stringify(value) !== JSON.stringify(usual[name]))
    .map(([name, value]) => `${name}=${written(value)}`);
  const maps = values.mapping.flatMap(({ group, project, admin, role }) => [
    ...(project ? [admin ? "--map-admin" : "--map", `${group}=${project}`] : []),
    ...(role ? ["--map-role", `${group}=${role}`] : []),
  ]);
  return commandLine(
    "carrel",
    "provider",
    ...(existing ? ["update", values.name] : ["add", values.name || "corp", values.kind]),
    ...settings,
    "--domain",
    values.domain,
    ...(values.secret ? ["--secret-stdin"] : []),
    ...maps,
    ...(values.active ? [] : ["--off"]),
  );
}

function written(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === null ? "" : String(value);
}
