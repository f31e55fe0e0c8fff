import type { Change, SessionCreate, SessionDetail } from "@/api/types";
import { requestLike } from "@/features/sessions/launcher/request";

/** The request for a pending session with a suggested change, under the same name. */
export function changedRequest(session: SessionDetail, change: Change): SessionCreate {
  const request = { ...requestLike(session), name: session.name };
  if (change.kind === "group" && change.group)
    return { ...request, group: change.group.name, alternative_groups: [] };
  return change.kind === "smaller" ? { ...request, slots: change.slots as SessionCreate["slots"] } : request;
}

/** Where an administrator changes the limit with this scope, such as "project:k3f"; null: not on a page. */
export function limitPage(scope: string, owner: string) {
  const at = scope.indexOf(":");
  const [kind, id] = [scope.slice(0, at), scope.slice(at + 1)];
  switch (kind) {
    case "project":
      return { action: "project.update", to: "/projects", search: { edit: id } } as const;
    case "domain":
      return { action: "domain.update", to: "/domains", search: { edit: id } } as const;
    case "user":
      return { action: "policy.assign", to: "/users", search: { user: owner } } as const;
    case "keypair":
      return { action: "policy.assign", to: "/users", search: { user: owner, tab: "keypairs" } } as const;
    default:
      return null;
  }
}
