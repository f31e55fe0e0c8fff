import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { ACTIONS, type ActionName, type ActionScope } from "@/api/actions";
import type { Me } from "@/api/types";
import { ACTION_SENTENCES } from "@/sentences/actions";
import { useMe } from "./use-me";

/** The owner of an object; absent fields do not match the user. */
export interface ObjectOwner {
  owner?: string;
  domain?: string;
  project?: string;
}

/**
 * Whether the user has a permission at all, or on an owner's object. The server enforces it; this only avoids
 * requests that would fail.
 */
export function may(me: Me, action: ActionName, whose?: ObjectOwner): boolean {
  const scope = me.actions[action];
  if (!scope) return false;
  if (!whose || scope === "all") return true;
  if (whose.owner === me.user.id) return true;
  if (scope === "domain") return whose.domain === me.user.domain.id;
  if (scope !== "project") return false;
  const everyMember = (ACTIONS[action].user as ActionScope) === "project";
  return me.projects.some(({ id, admin }) => id === whose.project && (everyMember || admin));
}

/** Whether the user has a permission beyond their own objects. */
export function mayBeyondOwn(me: Me, action: ActionName): boolean {
  return ["project", "domain", "all"].includes(me.actions[action] ?? "none");
}

const WIDE: readonly ActionScope[] = ["project", "domain", "all"];

/** Why the user may not do something, as text; null if they may. */
export function useRefusal(): (action: ActionName, whose?: ObjectOwner) => string | null {
  const { t, i18n } = useLingui();
  const me = useMe();
  return useCallback(
    (action, whose) => {
      if (may(me, action, whose)) return null;
      const sentence = i18n._(ACTION_SENTENCES[action]);
      const { projectAdmin, domainAdmin } = ACTIONS[action];
      if (WIDE.includes(projectAdmin)) return t`Project administrators only: ${sentence}`;
      if (WIDE.includes(domainAdmin)) return t`Domain administrators only: ${sentence}`;
      return t`Superadmins only: ${sentence}`;
    },
    [t, i18n, me],
  );
}
