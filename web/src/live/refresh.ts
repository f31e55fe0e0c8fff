import type { QueryClient } from "@tanstack/react-query";
import type { Me } from "@/api/types";
import type { LiveEvent } from "./stream";

/** Long enough for the changes of one request to arrive, too short to be waited for. */
const BURST_MS = 300;

const waiting = new Map<string, ReturnType<typeof setTimeout>>();

/** Asks again for what begins with these keys and is being looked at, once for all that come in a burst. */
export function refreshSoon(client: QueryClient, keys: readonly string[]): void {
  for (const key of keys) onceSoon(key, () => void client.invalidateQueries({ queryKey: [key] }));
}

/** Asks again for the lists of a folder's files that are being looked at, once for all that come in a burst. */
export function refreshFilesSoon(client: QueryClient, folder: string): void {
  const isOfIt = ([kind, , of]: readonly unknown[]) => kind === "files" && of === folder;
  onceSoon(
    `files ${folder}`,
    () => void client.invalidateQueries({ predicate: ({ queryKey }) => isOfIt(queryKey) }),
  );
}

function onceSoon(what: string, act: () => void): void {
  if (waiting.has(what)) return;
  waiting.set(
    what,
    setTimeout(() => {
      waiting.delete(what);
      act();
    }, BURST_MS),
  );
}

const TOUCHED: Readonly<Record<string, readonly string[]>> = {
  user: ["users", "projects", "domains", "logins", "keypairs"],
  project: ["projects", "users", "domains", "check", "why"],
  domain: ["domains", "projects", "users", "check", "why"],
  node: ["nodes", "groups", "check", "why", "queue"],
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
