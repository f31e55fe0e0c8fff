import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { Me } from "@/api/types";
import { applyEvent, type LiveChange, PLANNED, type Transition } from "./apply";
import { noticeBoard } from "./notices";
import { EventStream, type StreamState } from "./stream";
import { watchLine } from "./watch-line";

const WORRY_MS = 1200;
/** What events keep fresh, by the first parts of the keys. */
const LIVE = ["sessions", "resources", "nodes", "groups", "folders", "tasks", "invitations", "files"];

/** Keeps the caches true for as long as the caller is shown; tells how the line is. */
export function useLive(me: Me, onChange: (change: LiveChange) => void): StreamState {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  const handler = useRef(onChange);
  handler.current = onChange;

  useEffect(() => {
    let missed = false;
    let worry: ReturnType<typeof setTimeout> | undefined;
    const show = (next: StreamState) => {
      // A break that mends at once is nobody's concern.
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
        // What was missed may reach further back than the server remembers.
        missed = false;
        for (const key of [...LIVE, ...PLANNED]) void client.invalidateQueries({ queryKey: [key] });
      },
      onRefused: () => void client.invalidateQueries({ queryKey: ["auth"] }),
      onEvent: async (event) => {
        const change = await applyEvent(client, event, me.user.id);
        if (change && "after" in change) record(change);
        if (change) handler.current(change);
      },
    });
    const stopWatching = watchLine({
      onReachable: () => stream.reconnect(),
      onUnreachable: () => show("reconnecting"),
      onShown: () => stream.retry(),
      onHidden: () => {
        missed = true;
        stream.pause();
      },
    });
    return () => {
      clearTimeout(worry);
      stopWatching();
      stream.close();
    };
  }, [client, me.user.id]);

  return state;
}

/** Puts what a person may want to know on the notice board: it runs, it failed, it ended. */
function record({ before, after }: Transition): void {
  if (!after.state || before?.state === after.state) return;
  if (after.state !== "RUNNING" && !hasEnded(after.state)) return;
  noticeBoard.add({
    at: new Date(),
    sessionId: after.id,
    name: after.name ?? before?.name ?? after.id,
    state: after.state,
    reason: after.reason ?? null,
  });
}
