import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AcceleratorCheck } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export type CheckOutcome = NonNullable<AcceleratorCheck["outcome"]>;
type CheckedAspect = AcceleratorCheck["results"][number]["measures"][number]["name"];

export const CHECK_OUTCOMES: Record<CheckOutcome, { title: MessageDescriptor; look: StateLook }> = {
  passed: { title: msg`passed`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  not_measured: { title: msg`not measured`, look: "cancelled" },
};

export const CHECKED_ASPECTS: Record<CheckedAspect, MessageDescriptor> = {
  granted: msg`Attached`,
  isolated: msg`Isolated`,
  numbered: msg`Numbered from zero`,
  counted: msg`Counted by the vendor's tool`,
};
