import type { Me } from "@/api/types";
import type { StatisticsSearch } from "@/routing/search";

export const BY = ["domain", "project", "user", "group", "image"] as const;
export type Grouping = (typeof BY)[number];
export type Scope = NonNullable<StatisticsSearch["scope"]>;

/** A scope that the user may choose; name: of the domain or project. */
export interface StatisticsScope {
  scope: Scope;
  ref?: string;
  name?: string;
}

/** The user's own sessions, and what they administer. */
export function scopeChoices(me: Me): StatisticsScope[] {
  const reach = me.actions["usage.read"];
  const choices: StatisticsScope[] = [{ scope: "user" }];
  if (reach === "all") choices.push({ scope: "site" });
  if (reach === "all" || reach === "domain") {
    choices.push({ scope: "domain", ref: me.user.domain.id, name: me.user.domain.name });
  }
  for (const { id, name, admin } of me.projects) {
    if (admin || reach === "all") choices.push({ scope: "project", ref: id, name });
  }
  return choices;
}

/** What a row's own statistics show, if there are any: those of an image are not a scope. */
export function deeper(by: Grouping, scope: Scope): { scope: Scope; by: Grouping } | null {
  if (by === "image" || scope === "user" || by === scope) return null;
  return { scope: by, by: by === "user" ? "image" : by === "domain" ? "project" : "user" };
}
