import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  IconAlertTriangle,
  IconBan,
  IconCircleCheck,
  IconClock,
  IconDownload,
  IconHourglass,
  IconPlayerPlay,
  IconPlayerStop,
  IconPower,
} from "@tabler/icons-react";
import type { SessionState } from "@/api/types";

export interface StateLook {
  label: MessageDescriptor;
  tone: "good" | "busy" | "bad" | "quiet";
  icon: typeof IconClock;
}

/** The name and style of each state; the type makes a new server state a compile error. */
export const STATE_LOOKS: Record<SessionState, StateLook> = {
  PENDING: { label: msg`Pending`, tone: "busy", icon: IconHourglass },
  SCHEDULED: { label: msg`Scheduled`, tone: "busy", icon: IconClock },
  PREPARING: { label: msg`Preparing`, tone: "busy", icon: IconDownload },
  STARTING: { label: msg`Starting`, tone: "busy", icon: IconPlayerPlay },
  RUNNING: { label: msg`Running`, tone: "good", icon: IconCircleCheck },
  TERMINATING: { label: msg`Terminating`, tone: "busy", icon: IconPower },
  TERMINATED: { label: msg`Terminated`, tone: "quiet", icon: IconPlayerStop },
  CANCELLED: { label: msg`Cancelled`, tone: "quiet", icon: IconBan },
  ERROR: { label: msg`Error`, tone: "bad", icon: IconAlertTriangle },
};
