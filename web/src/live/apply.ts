import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { hasEnded } from "@/api/session-states";
import type { Me, Quota, Session, SessionDetail } from "@/api/types";
import { cachedSession, changeSession, leaveLists, missingSomewhere, putSession } from "@/cache/caches";
import { rememberChange } from "@/cache/later-changes";
import type { SessionChange } from "@/cache/patch";
import { usageFeed } from "@/cache/usage";
import { pendingCreates, sessionsShowQuery } from "@/queries/sessions";
import { applyFolderEvent, type TaskChange } from "./folders";
import { concerns, refreshArraysSoon, refreshSoon, touchedBy } from "./refresh";
import type { LiveEvent } from "./stream";

/** A state change of a session, for notifications. */
export interface Transition {
  before: Session | undefined;
  after: SessionChange;
  /** Id of the owner; undefined if the session cannot be read. */
  owner: string | undefined;
}

/** A quota crossed a warning level. */
export type QuotaChange = Pick<Quota, "label" | "level" | "used_bytes" | "most_bytes">;

/** A session was shared with a user or a project. by: the e-mail of who newly shared it. */
export interface ShareChange {
  id: string;
  name: string;
  user: string | null;
  project: string | null;
  by: string | null;
}

/** An accelerator got out of order, or is back. name: of its node. */
export interface DeviceChange {
  kind: "device_out_of_order" | "device_back";
  name: string;
  device: string;
  model: string;
  problem: string;
}

/** A change that may need a notification. */
export type LiveChange =
  | Transition
  | { task: TaskChange }
  | { quota: QuotaChange }
  | { share: ShareChange }
  | { device: DeviceChange };

/** Whether the user is notified: of their own sessions, and what others share with them; of others by preference. */
export function concernsUser(change: LiveChange, { user, projects }: Pick<Me, "user" | "projects">): boolean {
  if ("share" in change) {
    const { by, user: recipient, project } = change.share;
    if (by === null || by === user.email) return false;
    return recipient === user.id || projects.some(({ id }) => id === project);
  }
  return !("after" in change) || change.owner === user.id || user.preferences?.notifications === "all";
}

const DEVICE_KINDS: Readonly<Record<string, DeviceChange["kind"]>> = {
  "node.device_unhealthy": "device_out_of_order",
  "node.device_healthy": "device_back",
};

/** How long a session stays in a list whose filter it no longer matches. */
export const LEAVES_AFTER_MS = 10_000;

/** Query keys of scheduling decisions; any decision may change all of them. */
export const PLANNED = ["check", "why", "queue"] as const;

/**
 * Applies an event to the caches.
 *
 * 1. Readings go to the sparklines only.
 * 2. The event's fields are patched in at once, without a request.
 * 3. A session that a list should contain and no cache has is fetched.
 * 4. A session that a list should no longer contain leaves it some seconds later.
 * 5. Active queries of users, projects and domains are refetched, once per burst.
 * 6. Active queries that the event does not cover (history, apps, free capacity) are refetched.
 */
export async function applyEvent(
  client: QueryClient,
  event: LiveEvent,
  me: string,
): Promise<LiveChange | null> {
  if (event.kind === "usage") {
    usageFeed.add(event.data as Parameters<typeof usageFeed.add>[0]);
    return null;
  }
  if (event.kind === "vfolder_task.updated" || event.kind === "files.changed") {
    const task = await applyFolderEvent(client, event);
    return task && { task };
  }
  refreshSoon(client, ["audit"]);
  if (event.kind === "quota.updated") {
    refreshSoon(client, touchedBy(event.kind));
    return { quota: event.data as QuotaChange };
  }
  if (event.kind !== "session.created" && event.kind !== "session.updated") {
    refreshSoon(client, touchedBy(event.kind));
    const kind = DEVICE_KINDS[event.kind];
    if (kind) return { device: { ...(event.data as unknown as DeviceChange), kind } };
    if (event.kind === "session.shared") return { share: event.data as unknown as ShareChange };
    if (concerns(event, client.getQueryData<Me>(["auth", "me"]))) refreshSoon(client, ["auth"]);
    return null;
  }

  const change = event.data as SessionChange;
  if (change.array_id) refreshArraysSoon(client);
  const before = cachedSession(client, change.id);
  rememberChange(change);
  changeSession(client, change);
  if (before?.state !== change.state) {
    refreshAround(client, change.id);
    refreshSoon(client, [
      "nodes",
      "groups",
      "over",
      "shares",
      "session-graph",
      "session-counts",
      "schedules",
    ]);
    // Folders show their number of live sessions.
    refreshSoon(client, ["folders"]);
  }
  if (before?.state !== change.state || (change.state && hasEnded(change.state))) {
    setTimeout(() => leaveLists(client, change.id, me), LEAVES_AFTER_MS);
  }
  refreshSoon(client, PLANNED);

  // The lists with its array are fetched again; thousands of sessions may change at once.
  if (change.array_id) return { before, after: change, owner: undefined };

  // The response to this page's own request contains the session; a second request would add it twice.
  if (!before && pendingCreates.size > 0) await Promise.allSettled(pendingCreates);
  const known =
    cachedSession(client, change.id) ??
    (await client.fetchQuery(sessionsShowQuery(change.id)).catch(() => null));
  if (known && missingSomewhere(client, known, me)) putSession(client, known, me);
  return { before, after: change, owner: known?.owner.id };
}

/** Whether the query has the details of a session that starts after this one. */
function showsAfter([object, kind]: QueryKey, data: unknown, id: string): boolean {
  return (
    object === "sessions" &&
    kind === "show" &&
    !!(data as Partial<SessionDetail> | undefined)?.after?.some((one) => one.id === id)
  );
}

function refreshAround(client: QueryClient, id: string): void {
  for (const kind of ["history", "timeline"]) {
    void client.invalidateQueries({ queryKey: ["sessions", kind, id] });
  }
  void client.invalidateQueries({ queryKey: ["apps", "list", id] });
  void client.invalidateQueries({ predicate: ({ queryKey, state }) => showsAfter(queryKey, state.data, id) });
  void client.invalidateQueries({ queryKey: ["resources", "show"] });
}
