import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import type { Me } from "@/api/types";
import type { LiveEvent } from "./stream";

/** Long enough to collect the changes of one request, short enough to be unnoticed. */
const BURST_MS = 300;

/**
 * A listing of thousands of files costs the server as much as many uploads: pause this long after a refetch
 * for each of its requests.
 */
const LISTING_PAUSE_MS = 1000;

/** Scheduled or recent refreshes, and whether another one was requested since. */
const recent = new Map<string, boolean>();

/** Refetches active queries with these key prefixes, once per burst. */
export function refreshSoon(client: QueryClient, keys: readonly string[]): void {
  for (const key of keys)
    onceSoon(key, () => {
      void client.invalidateQueries({ queryKey: [key] });
      return 0;
    });
}

/** The sessions of an array change one after the other, and each change is in the row of the array. */
const ARRAYS_PAUSE_MS = 2000;

/** Refetches the active lists and details of sessions, for the counts of arrays. */
export function refreshArraysSoon(client: QueryClient): void {
  onceSoon("arrays", () => {
    for (const kind of ["list", "show"]) void client.invalidateQueries({ queryKey: ["sessions", kind] });
    return ARRAYS_PAUSE_MS;
  });
}

/** Refetches the active file lists of a folder, once per burst. */
export function refreshFilesSoon(client: QueryClient, folder: string): void {
  const predicate = ({ queryKey: [kind, , of] }: Query) => kind === "files" && of === folder;
  onceSoon(`files ${folder}`, () => {
    void client.invalidateQueries({ predicate });
    const shown = client.getQueryCache().findAll({ predicate, type: "active" });
    const sent = shown.reduce((sum, query) => sum + requests(query), 0);
    return LISTING_PAUSE_MS * Math.max(1, sent);
  });
}

/** The number of requests of a refetch: one per page. */
const requests = ({ state }: Query): number =>
  (state.data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 1;

/** act: returns the pause afterwards in milliseconds. */
function onceSoon(what: string, act: () => number): void {
  if (recent.has(what)) {
    recent.set(what, true);
    return;
  }
  const now = () => {
    recent.set(what, false);
    setTimeout(() => (recent.get(what) ? now() : recent.delete(what)), act());
  };
  recent.set(what, true);
  setTimeout(now, BURST_MS);
}

const TOUCHED: Readonly<Record<string, readonly string[]>> = {
  user: ["users", "projects", "domains", "logins", "keypairs"],
  project: ["projects", "users", "domains", "check", "why"],
  domain: ["domains", "projects", "users", "check", "why"],
  node: ["nodes", "groups", "check", "why", "queue", "slot-kinds"],
  node_image: ["node-images"],
  image_pull: ["image-pulls", "node-images"],
  accelerator_check: ["accelerator-checks"],
  engine: ["engines", "nodes"],
  group: ["groups", "nodes", "presets", "check", "why", "queue", "shares"],
  template: ["templates"],
  environment: ["environments"],
  preset: ["presets", "check"],
  policy: ["policies", "over", "check", "why", "quotas"],
  storage_host: ["hosts"],
  registry: ["registries", "environments"],
  image: ["images", "check"],
  registry_scan: ["registry-scans", "images", "rescans"],
  image_scan: ["image-scans", "check", "rescans"],
  rescan: ["rescans"],
  vfolder: ["folders", "quotas", "hosts"],
  invitation: ["invitations", "folders"],
  quota: ["quotas"],
  // Shared and unshared: other events of sessions have fields to apply.
  session: ["sessions", "session-shares", "session-counts"],
  schedule: ["schedules"],
};

/** The key prefixes that an event of this kind may affect. */
export function touchedBy(kind: string): readonly string[] {
  if (kind === "session.apps") return ["apps"];
  return TOUCHED[kind.split(".")[0] ?? ""] ?? [];
}

/** Whether an event affects the current user's account or memberships. */
export function concerns(event: LiveEvent, me: Me | undefined): boolean {
  if (!me || !event.object) return false;
  const { kind, id } = event.object;
  if (kind === "user") return id === me.user.id;
  if (kind === "domain") return id === me.user.domain.id;
  return kind === "project";
}
