import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { Me, NotificationChoices } from "@/api/types";
import { notificationsShowQuery } from "@/queries/notifications";
import { applyEvent, concernsUser, type LiveChange, PLANNED, type Transition } from "./apply";
import { noticeBoard } from "./notices";
import { keepsStream, notificationKindOf, releaseStream } from "./notification-kinds";
import { EventStream, type StreamState } from "./stream";
import { watchLine } from "./watch-line";

const WORRY_MS = 1200;
/** Key prefixes of the queries that events keep fresh. */
const LIVE = ["sessions", "resources", "nodes", "groups", "folders", "tasks", "invitations", "files"];

/** Keeps the caches fresh while the caller is mounted; returns the connection state. */
export function useLive(me: Me, onChange: (change: LiveChange) => void): StreamState {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  const handler = useRef(onChange);
  handler.current = onChange;
  const user = useRef(me);
  user.current = me;

  useEffect(() => {
    let missed = false;
    let worry: ReturnType<typeof setTimeout> | undefined;
    const show = (next: StreamState) => {
      // Do not report a short interruption.
      if (next === "reconnecting") {
        worry ??= setTimeout(() => setState(next), WORRY_MS);
        return;
      }
      clearTimeout(worry);
      worry = undefined;
      setState(next);
    };
    const stream = new EventStream({
      url: "/api/v1/events?follow=true",
      onState: (next) => {
        show(next);
        if (next !== "open") missed = true;
        if (next !== "open" || !missed) return;
        // The gap may exceed the server's event history.
        missed = false;
        for (const key of [...LIVE, ...PLANNED]) void client.invalidateQueries({ queryKey: [key] });
      },
      onRefused: () => void client.invalidateQueries({ queryKey: ["auth"] }),
      onEvent: async (event) => {
        const change = await applyEvent(client, event, me.user.id);
        if (!change || !concernsUser(change, user.current)) return;
        const chosen = client.getQueryData(notificationsShowQuery.queryKey);
        if ("after" in change) record(change, chosen);
        if ("share" in change && (chosen?.shared.includes("page") ?? true)) {
          const { id, name, by } = change.share;
          noticeBoard.add({ at: new Date(), sessionId: id, name, sharedBy: by });
        }
        handler.current(change);
      },
    });
    const stopWatching = watchLine({
      onReachable: () => stream.reconnect(),
      onUnreachable: () => show("reconnecting"),
      onShown: () => {
        releaseStream();
        stream.retry();
      },
      onHidden: async () => {
        if (await keepsStream(client.getQueryData(notificationsShowQuery.queryKey))) return;
        if (document.visibilityState === "visible") return;
        missed = true;
        stream.pause();
      },
    });
    return () => {
      clearTimeout(worry);
      releaseStream();
      stopWatching();
      stream.close();
    };
  }, [client, me.user.id]);

  return state;
}

/** Adds a notification for a session that runs, failed or ended. */
function record({ before, after }: Transition, chosen: NotificationChoices | undefined): void {
  if (!after.state || before?.state === after.state) return;
  const kind = notificationKindOf({ before, after });
  if (kind && chosen && !chosen[kind].includes("page")) return;
  if (after.state !== "RUNNING" && !hasEnded(after.state)) return;
  noticeBoard.add({
    at: new Date(),
    sessionId: after.id,
    name: after.name ?? before?.name ?? after.id,
    state: after.state,
    reason: after.reason ?? null,
  });
}
