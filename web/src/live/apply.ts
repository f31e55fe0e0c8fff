import type { QueryClient } from "@tanstack/react-query";
import type { Me, Quota, Session } from "@/api/types";
import { cachedSession, changeSession, missingSomewhere, putSession } from "@/cache/caches";
import type { SessionChange } from "@/cache/patch";
import { rememberChange } from "@/cache/seen";
import { usageFeed } from "@/cache/usage";
import { pendingCreates, sessionsShowQuery } from "@/queries/sessions";
import { applyFolderEvent, type TaskChange } from "./folders";
import { concerns, refreshSoon, touchedBy } from "./refresh";
import type { LiveEvent } from "./stream";

/** A state change of a session, as the notices show it. */
export interface Transition {
  before: Session | undefined;
  after: SessionChange;
}

/** The space of a person or a project became scarce, or is no longer. */
export type QuotaChange = Pick<Quota, "label" | "level" | "used_bytes" | "most_bytes">;

/** What happened that a person may want to know. */
export type LiveChange = Transition | { task: TaskChange } | { quota: QuotaChange };

/** What the scheduler says about who waits; any of its decisions may change all of it. */
export const PLANNED = ["check", "why", "queue"] as const;

/**
 * Puts one event into the caches.
 *
 * 1. Readings go to the sparklines and touch nothing else.
 * 2. What the event says is patched in at once, without asking the server.
 * 3. Only a session that a list should show and nobody here knows is asked for.
 * 4. People and places are asked for again where they are being looked at, a burst of changes once.
 * 5. What an event does not carry (history, apps, what is left) is asked for again where it is being looked at.
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
    if (concerns(event, client.getQueryData<Me>(["auth", "me"]))) refreshSoon(client, ["auth"]);
    return null;
  }

  const change = event.data as SessionChange;
  const before = cachedSession(client, change.id);
  rememberChange(change);
  changeSession(client, change);
  if (before?.state !== change.state) {
    refreshAround(client, change.id);
    refreshSoon(client, ["nodes", "groups", "over", "shares"]);
    // Folders say in how many live sessions they are.
    refreshSoon(client, ["folders"]);
  }
  refreshSoon(client, PLANNED);

  // The answer to our own request brings the whole session; asking as well would show it twice.
  if (!before && pendingCreates.size > 0) await Promise.allSettled(pendingCreates);
  const known =
    cachedSession(client, change.id) ??
    (await client.fetchQuery(sessionsShowQuery(change.id)).catch(() => null));
  if (known && missingSomewhere(client, known, me)) putSession(client, known, me);
  return { before, after: change };
}

function refreshAround(client: QueryClient, id: string): void {
  void client.invalidateQueries({ queryKey: ["sessions", "history", id] });
  void client.invalidateQueries({ queryKey: ["apps", "list", id] });
  void client.invalidateQueries({ queryKey: ["resources", "show"] });
}
