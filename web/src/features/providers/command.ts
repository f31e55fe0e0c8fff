import { commandLine } from "@/ui/command";
import { type Setting, type SettingValues, settingWords } from "@/ui/form/settings";
import type { ProviderValues } from "./form-values";

/**
 * The equivalent CLI command. given: the submitted settings; secrets are prompted for and never on the
 * command line.
 */
export function providerCommand(
  values: ProviderValues,
  settings: readonly Setting[],
  given: SettingValues,
  existing: boolean,
): string {
  const maps = values.mapping.flatMap(({ group, project, admin, role }) => [
    ...(project ? [admin ? "--map-admin" : "--map", `${group}=${project}`] : []),
    ...(role ? ["--map-role", `${group}=${role}`] : []),
  ]);
  return commandLine(
    "carrel",
    "provider",
    ...(existing ? ["update", values.name] : ["add", values.kind, values.name || "corp"]),
    "--domain",
    values.domain,
    ...settingWords(settings, given),
    ...maps,
    ...(values.active ? [] : ["--off"]),
  );
}
