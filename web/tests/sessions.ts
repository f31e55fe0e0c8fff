import type { Session, SessionDetail, SessionState } from "@/api/types";
import type { SessionFilter, SessionPages } from "@/cache/patch";

/** A session as the server lists it, with the given differences. */
export function aSession(id: string, differences: Partial<Session> = {}): Session {
  return {
    id,
    name: `name-${id}`,
    kind: "interactive",
    state: "RUNNING" as SessionState,
    result: null,
    reason: null,
    progress: null,
    image: "carrel/starter:1",
    image_name: "starter",
    domain: { id: "d", name: "default" },
    project: { id: "p", name: "default" },
    owner: { id: "me", email: "me@example.org" },
    group: { id: "default", name: "default" },
    priority: 50,
    time_limit_s: null,
    cluster_size: 1,
    slots: { cpu: 1000, mem: 2 ** 30 },
    node: "node-1",
    warnings: [],
    created_at: "2026-01-01T10:00:00Z",
    started_at: "2026-01-01T10:00:02Z",
    ended_at: null,
    queue_position: null,
    idle_ends_at: null,
    limit_ends_at: null,
    array_id: null,
    array_index: null,
    array: null,
    shared_as: null,
    ...differences,
  };
}

/** The details of a session that was asked for with nothing special. */
export function aDetail(id: string, differences: Partial<SessionDetail> = {}): SessionDetail {
  return {
    ...aSession(id),
    may_leave: false,
    image_deprecated: null,
    accepted_groups: [differences.group ?? { id: "default", name: "default" }],
    description: "",
    command: [],
    retries: 0,
    start_at: null,
    rights: "plain",
    template: null,
    after: [],
    dependants: [],
    on_dependency_failure: "cancel",
    roles: [],
    placement: "spread",
    topology: null,
    on_failure: "end",
    bootstrap: "",
    shm_bytes: null,
    disk_bytes: null,
    disk_limit_bytes: null,
    workdir: null,
    timezone: null,
    locale: null,
    stop_signal: "SIGTERM",
    grace_s: 10,
    env: {},
    apps: [],
    mounts: [],
    containers: [],
    ...differences,
  };
}

/** Pages holding these sessions, the last of them followed by more when `more` holds. */
export function pagesOf(sessions: Session[][], more = false): SessionPages {
  return {
    pages: sessions.map((items, index) => ({
      items,
      next_cursor: index < sessions.length - 1 || more ? `after-${index}` : null,
    })),
    pageParams: sessions.map((_, index) => (index === 0 ? null : `after-${index - 1}`)),
  };
}

export const LIVE: SessionFilter = { state: "live", q: "", owner: "me" };
export const ids = (pages: SessionPages): string[][] =>
  pages.pages.map((page) => page.items.map((one) => one.id));
