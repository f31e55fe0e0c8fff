import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { ContainerState, Result, SessionState } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

/** The name and look of each state; the type makes a new server state a compile error. */
export const SESSION_STATE_WORDS: Record<SessionState, { label: MessageDescriptor; look: StateLook }> = {
  PENDING: { label: msg`Pending`, look: "waiting" },
  SCHEDULED: { label: msg`Scheduled`, look: "scheduled" },
  PREPARING: { label: msg`Preparing`, look: "preparing" },
  STARTING: { label: msg`Starting`, look: "starting" },
  RUNNING: { label: msg`Running`, look: "ok" },
  TERMINATING: { label: msg`Terminating`, look: "ending" },
  TERMINATED: { label: msg`Terminated`, look: "ended" },
  CANCELLED: { label: msg`Cancelled`, look: "cancelled" },
  ERROR: { label: msg`Error`, look: "failed" },
};

/** The name of each state of a container. */
export const CONTAINER_STATE_WORDS: Record<ContainerState, MessageDescriptor> = {
  PENDING: SESSION_STATE_WORDS.PENDING.label,
  SCHEDULED: SESSION_STATE_WORDS.SCHEDULED.label,
  PREPARING: SESSION_STATE_WORDS.PREPARING.label,
  STARTING: SESSION_STATE_WORDS.STARTING.label,
  RUNNING: SESSION_STATE_WORDS.RUNNING.label,
  EXITED: msg`Exited`,
  ABANDONED: msg`Removal not confirmed`,
  GONE: msg`Removed`,
};

/** The name and look of each result of a batch session. */
export const RESULT_WORDS: Record<Result, { label: MessageDescriptor; look: StateLook }> = {
  success: { label: msg`Succeeded`, look: "succeeded" },
  failure: { label: msg`Failed`, look: "failed" },
  timed_out: { label: msg`Timed out`, look: "expired" },
  cancelled: { label: msg`Cancelled`, look: "cancelled" },
};
