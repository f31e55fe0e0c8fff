import { shellQuote } from "@/ui/command";

interface TokenWish {
  name: string;
  scopes: readonly string[];
  expires_in_days: number | null;
}

/** The CLI command that creates the same token. */
export function createTokenCommand({ name, scopes, expires_in_days: days }: TokenWish): string {
  const words = ["carrel", "token", "create", name || "NAME"];
  for (const scope of scopes) words.push("--scope", scope);
  words.push("--days", String(days ?? 0));
  return words.map(shellQuote).join(" ");
}
