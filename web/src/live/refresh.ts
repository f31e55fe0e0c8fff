import type { InfiniteData, Query, QueryClient } from "@tanstack/react-query";
import type { Me } from "@/api/types";
import type { LiveEvent } from "./stream";

/** Long enough for the changes of one request to arrive, too short to be waited for. */
const BURST_MS = 300;

/** A list of thousands of files costs the server as much as many of their uploads do: so long for each request. */
const LISTING_PAUSE_MS = 1000;

/** What is refreshed soon, or was a moment ago, and whether that was asked for since. */
const recent = new Map<string, boolean>();

/** Asks again for what begins with these keys and is being looked at, once for all that come in a burst. */
export function refreshSoon(client: QueryClient, keys: readonly string[]): void {
  for (const key of keys)
    onceSoon(key, () => {
      void client.invalidateQueries({ queryKey: [key] });
      return 0;
    });
}

/** Asks again for the lists of a folder's files that are being looked at, once for all that come in a burst. */
export function refreshFilesSoon(client: QueryClient, folder: string): void {
  const predicate = ({ queryKey: [kind, , of] }: Query) => kind === "files" && of === folder;
  onceSoon(`files ${folder}`, () => {
    void client.invalidateQueries({ predicate });
    const shown = client.getQueryCache().findAll({ predicate, type: "active" });
    return (
      LISTING_PAUSE_MS *
      Math.max(
        1,
        shown.map(requests).reduce((sum, each) => sum + each, 0),
      )
    );
  });
}

/** In how many requests a list is asked for again: one for each of its pages. */
const requests = ({ state }: Query): number =>
  (state.data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 1;

/** act: returns for how many milliseconds it then rests. */
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
  engine: ["engines", "nodes"],
  group: ["groups", "nodes", "presets", "check", "why", "queue", "shares"],
  preset: ["presets", "check"],
  policy: ["policies", "over", "check", "why", "quotas"],
  storage_host: ["hosts"],
  vfolder: ["folders", "quotas", "hosts"],
  invitation: ["invitations", "folders"],
  quota: ["quotas"],
};

/** The first parts of the keys of what an event of this kind may have changed. */
export function touchedBy(kind: string): readonly string[] {
  return TOUCHED[kind.split(".")[0] ?? ""] ?? [];
}

/** Whether an event changes who the signed-in person is, or where they belong. */
export function concerns(event: LiveEvent, me: Me | undefined): boolean {
  if (!me || !event.object) return false;
  const { kind, id } = event.object;
  if (kind === "user") return id === me.user.id;
  if (kind === "domain") return id === me.user.domain.id;
  return kind === "project";
}
