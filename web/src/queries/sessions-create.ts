import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { sessionsCreate } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import { untilReached } from "@/api/reach";
import type { Me, Session, SessionCreate, SessionDetail } from "@/api/types";
import { dropSession, placeSession } from "@/cache/caches";
import { withLaterChanges } from "@/cache/seen";

/** Requests on their way; an event about a session nobody knows yet waits for them. */
export const pendingCreates = new Set<Promise<unknown>>();

/** Rows that stand for a request still on its way have an id with this prefix. */
const REQUESTED = "requested:";
export const isRequested = (id: string): boolean => id.startsWith(REQUESTED);

/** Starts a session. Its row appears at once, and is corrected or taken away when the server has answered. */
export function useCreateSession() {
  const client = useQueryClient();
  return useMutation<SessionDetail, Problem, SessionCreate>({
    mutationFn: (request) => createSession(client, request),
    onSuccess: (session) => {
      client.setQueryData(["sessions", "show", session.id], session);
      void client.invalidateQueries({ queryKey: ["resources", "show"] });
    },
  });
}

async function createSession(client: QueryClient, request: SessionCreate): Promise<SessionDetail> {
  const me = client.getQueryData<Me>(["auth", "me"]);
  const key =
    crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-");
  const askedAt = performance.now();
  const sent = untilReached(() => sessionsCreate({ body: request, headers: { "Idempotency-Key": key } }));
  pendingCreates.add(sent);
  const requestedId = REQUESTED + key;
  if (me) placeSession(client, requestedRow(request, me, requestedId), me.user.id);
  try {
    const session = withLaterChanges((await sent).data, askedAt);
    dropSession(client, requestedId);
    if (me) placeSession(client, session, me.user.id);
    return session;
  } catch (problem) {
    dropSession(client, requestedId);
    throw problem;
  } finally {
    pendingCreates.delete(sent);
  }
}

function requestedRow(request: SessionCreate, me: Me, id: string): Session {
  const project = me.projects.find((one) => one.id === request.project || one.name === request.project);
  return {
    id,
    name: request.name ?? "…",
    kind: "interactive",
    state: "PENDING",
    reason: null,
    progress: null,
    image: request.image,
    image_name: null,
    project: project ?? me.projects[0] ?? { id: "", name: "" },
    owner: { id: me.user.id, email: me.user.email },
    group: { id: request.group ?? "default", name: request.group ?? "default" },
    priority: request.priority ?? 50,
    time_limit_s: request.time_limit_s ?? null,
    slots: request.slots,
    node: null,
    warnings: [],
    created_at: new Date().toISOString(),
    started_at: null,
    ended_at: null,
    queue_position: null,
    idle_ends_at: null,
  };
}
