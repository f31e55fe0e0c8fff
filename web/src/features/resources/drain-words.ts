import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { DrainedSession, Draining } from "@/api/types";

/** The drain methods. */
export const DRAINING: Record<Draining, { title: MessageDescriptor; text: MessageDescriptor }> = {
  wait: {
    title: msg`Wait for sessions to end`,
    text: msg`Sessions keep running until they end.`,
  },
  move: {
    title: msg`Requeue sessions`,
    text: msg`Sessions are requeued and restarted on other nodes. Files outside mounted folders are lost.`,
  },
  end: {
    title: msg`Terminate sessions`,
    text: msg`Sessions are terminated. Files outside mounted folders are lost.`,
  },
};

/** What happens to a session on a drained node. */
export const LEAVING: Record<DrainedSession["becomes"], MessageDescriptor> = {
  stays: msg`It keeps running until it ends. The node is drained only then.`,
  ends: msg`It is terminated. Processes are asked to stop, and files outside mounted folders are lost.`,
  moves: msg`It is requeued and restarted on another node. Processes end, and files outside mounted folders are lost.`,
  requeues: msg`Not running yet: it is requeued and starts on another node.`,
  is_ending: msg`It is already terminating.`,
};

/** Whether the session's owner loses unsaved state. */
export const loses = ({ becomes }: DrainedSession): boolean => becomes === "ends" || becomes === "moves";
