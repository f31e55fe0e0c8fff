import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Me } from "@/api/types";
import { hasEnded } from "@/sessions/states";
import { applyEvent, type Transition } from "./apply";
import { noticeBoard } from "./notices";
import { EventStream, type StreamState } from "./stream";

/** Keeps the caches true for as long as the caller is shown; tells how the line is. */
export function useLive(me: Me, onTransition: (transition: Transition) => void): StreamState {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  const told = useRef(onTransition);
  told.current = onTransition;

  useEffect(() => {
    let broken = false;
    const stream = new EventStream({
      url: "/api/v1/events?follow=true",
      onState: (next) => {
        setState(next);
        if (next === "reconnecting") broken = true;
        if (next !== "open" || !broken) return;
        // What was missed may reach further back than the server remembers.
        broken = false;
        void client.invalidateQueries({ queryKey: ["sessions"] });
        void client.invalidateQueries({ queryKey: ["resources"] });
        void client.invalidateQueries({ queryKey: ["auth"] });
      },
      onEvent: async (event) => {
        const transition = await applyEvent(client, event, me.user.id);
        if (transition) record(transition);
        if (transition) told.current(transition);
      },
    });
    const online = () => stream.retry();
    const offline = () => setState("reconnecting");
    addEventListener("online", online);
    addEventListener("offline", offline);
    return () => {
      removeEventListener("online", online);
      removeEventListener("offline", offline);
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
