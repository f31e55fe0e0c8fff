import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { ImagePull } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export const PULL_STATES: Record<ImagePull["state"], { title: MessageDescriptor; look: StateLook }> = {
  waiting: { title: msg`waiting`, look: "waiting" },
  running: { title: msg`running`, look: "working" },
  done: { title: msg`done`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  cancelled: { title: msg`cancelled`, look: "cancelled" },
};
