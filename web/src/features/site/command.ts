import type { SiteUpdate } from "@/api/types";
import { commandLine } from "@/ui/command";

/** The equivalent CLI command; a password is prompted for and never on the command line. */
export function siteCommand({ mail_password, ...changed }: SiteUpdate): string {
  const words = Object.entries(changed).map(([name, value]) => `${name}=${written(value)}`);

  if (mail_password !== undefined) words.push("--mail-password-stdin");
  return commandLine("carrel", "site", "set", ...words);
}

function written(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, number]) => `${name}=${number}`)
      .join(",");
  }
  if (typeof value === "boolean") return value ? "on" : "off";
  return value === null || value === undefined ? "" : String(value);
}
