import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Vulnerability } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

/** From the most to the least severe. */
export const SEVERITIES: Record<Vulnerability["severity"], { title: MessageDescriptor; look: StateLook }> = {
  critical: { title: msg`critical`, look: "failed" },
  high: { title: msg`high`, look: "failed" },
  medium: { title: msg`medium`, look: "warning" },
  low: { title: msg`low`, look: "unknown" },
  unknown: { title: msg`unknown`, look: "unknown" },
};
