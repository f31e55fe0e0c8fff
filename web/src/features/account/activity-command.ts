import type { ActivitySearch } from "@/routing/search";
import { shellQuote } from "@/ui/command";

/** The CLI command for the same list. */
export function activityCommand({ q, kind, outcome }: ActivitySearch, from: string | undefined): string {
  const words = ["carrel", "audit", "ls", "--mine"];
  if (from) words.push("--from", from);
  if (kind) words.push("--action", `${kind}.*`);
  if (outcome) words.push("--outcome", outcome);
  if (q) words.push("--search", q);
  return words.map(shellQuote).join(" ");
}
