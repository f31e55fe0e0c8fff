import { ACTIONS, type ActionName } from "@/api/actions";

/** The actions on one object type, such as sessions. */
export interface ScopeKind {
  kind: string;
  actions: ActionName[];
}

/** Actions that need no permission, or that no token can have. */
const NEVER: ReadonlySet<string> = new Set<ActionName>([
  "auth.login",
  "auth.recover",
  "auth.sign_up",
  "auth.logout",
  "auth.confirm",
  "server.health",
  "server.greet",
]);

/** The actions that a user's token can have, grouped by object type, in table order. */
export function kindsFor(held: Readonly<Record<string, string>>): ScopeKind[] {
  const kinds = new Map<string, ActionName[]>();
  for (const name of Object.keys(ACTIONS) as ActionName[]) {
    if (NEVER.has(name) || !held[name]) continue;
    const kind = actionKind(name);
    kinds.set(kind, [...(kinds.get(kind) ?? []), name]);
  }
  return [...kinds].map(([kind, actions]) => ({ kind, actions }));
}

/** The object type of an action: "session" of "session.read". */
export const actionKind = (action: string): string => action.split(".")[0] ?? "";

/** Whether an action is read-only. */
export const onlyReads = (action: string): boolean => action.endsWith(".read") || action === "auth.me";

export const PRESETS = ["read", "sessions", "everything", "chosen"] as const;
export type ScopePreset = (typeof PRESETS)[number];

const WORK: readonly string[] = ["session", "app", "image", "resource", "event", "project"];

/** The actions of a preset; empty for "chosen". */
export function actionsOf(preset: ScopePreset, kinds: readonly ScopeKind[]): ActionName[] {
  const all = kinds.flatMap(({ actions }) => actions);
  switch (preset) {
    case "read":
      return all.filter(onlyReads);
    case "sessions":
      return all.filter(
        (action) =>
          WORK.includes(actionKind(action)) &&
          (onlyReads(action) || ["session", "app"].includes(actionKind(action))),
      );
    case "everything":
      return all;
    case "chosen":
      return [];
  }
}

/** The scopes to request: one for an object type whose actions are all selected, "*" for everything. */
export function scopesOf(chosen: ReadonlySet<string>, kinds: readonly ScopeKind[]): string[] {
  if (kinds.every(({ actions }) => actions.every((action) => chosen.has(action)))) return ["*"];
  return kinds.flatMap(({ kind, actions }) => {
    const selected = actions.filter((action) => chosen.has(action));
    const ofKind = Object.keys(ACTIONS).filter((action) => actionKind(action) === kind);
    return ofKind.length > 1 && ofKind.every((action) => chosen.has(action)) ? [`${kind}.*`] : selected;
  });
}
