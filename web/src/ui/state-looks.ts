import {
  IconAlertTriangle,
  IconArchive,
  IconBan,
  IconCheck,
  IconCircleCheck,
  IconClock,
  IconClockOff,
  IconDoorExit,
  IconDownload,
  IconHourglass,
  IconLock,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconPlugConnectedX,
  IconPower,
  IconProgress,
  IconQuestionMark,
  IconTrash,
} from "@tabler/icons-react";

type Tone = "good" | "busy" | "bad" | "quiet";

/** The colour and icon of every state on the page; the words are those of each object. */
export const STATE_LOOKS = {
  ok: { tone: "good", icon: IconCircleCheck },
  succeeded: { tone: "good", icon: IconCheck },
  waiting: { tone: "busy", icon: IconHourglass },
  scheduled: { tone: "busy", icon: IconClock },
  preparing: { tone: "busy", icon: IconDownload },
  starting: { tone: "busy", icon: IconPlayerPlay },
  working: { tone: "busy", icon: IconProgress },
  draining: { tone: "busy", icon: IconDoorExit },
  ending: { tone: "busy", icon: IconPower },
  warning: { tone: "busy", icon: IconAlertTriangle },
  failed: { tone: "bad", icon: IconAlertTriangle },
  down: { tone: "bad", icon: IconPlugConnectedX },
  refused: { tone: "bad", icon: IconBan },
  off: { tone: "quiet", icon: IconPlayerPause },
  closed: { tone: "quiet", icon: IconLock },
  ended: { tone: "quiet", icon: IconPlayerStop },
  cancelled: { tone: "quiet", icon: IconBan },
  expired: { tone: "quiet", icon: IconClockOff },
  archived: { tone: "quiet", icon: IconArchive },
  deleted: { tone: "quiet", icon: IconTrash },
  unknown: { tone: "quiet", icon: IconQuestionMark },
} as const satisfies Record<string, { tone: Tone; icon: typeof IconClock }>;

export type StateLook = keyof typeof STATE_LOOKS;
