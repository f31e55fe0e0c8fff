import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { DrainedSession, Draining } from "@/api/types";

/** The ways to empty a node. */
export const DRAINING: Record<Draining, { title: MessageDescriptor; text: MessageDescriptor }> = {
  wait: {
    title: msg`Wait for what runs`,
    text: msg`Sessions run on until they end by themselves.`,
  },
  move: {
    title: msg`Move what runs`,
    text: msg`Sessions end here and start again elsewhere. Files outside mounted folders are lost.`,
  },
  end: {
    title: msg`End what runs`,
    text: msg`Sessions are ended. Files outside mounted folders are lost.`,
  },
};

/** What becomes of a session whose node is emptied. */
export const LEAVING: Record<DrainedSession["becomes"], MessageDescriptor> = {
  stays: msg`It runs on until it ends by itself; the node is empty only then.`,
  ends: msg`It is ended: its processes are asked to stop, and files outside mounted folders are lost.`,
  moves: msg`It goes back to the queue and starts again elsewhere: its processes end, and files outside mounted folders are lost.`,
  requeues: msg`It does not run yet: it goes back to the queue and starts elsewhere.`,
  is_ending: msg`It is ending already.`,
};

/** Whether somebody loses what they have in a session. */
export const loses = ({ becomes }: DrainedSession): boolean => becomes === "ends" || becomes === "moves";
