import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AcceleratorCheck } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

type Outcomes = Record<
  NonNullable<AcceleratorCheck["outcome"]>,
  { title: MessageDescriptor; look: StateLook }
>;
type Aspect = AcceleratorCheck["results"][number]["measures"][number]["name"];

export const CHECK_OUTCOMES: Outcomes = {
  passed: { title: msg`passed`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  not_measured: { title: msg`not measured`, look: "cancelled" },
};

export const CHECKED_ASPECTS: Record<Aspect, MessageDescriptor> = {
  granted: msg`Attached`,
  isolated: msg`Isolated`,
  numbered: msg`Numbered from zero`,
  counted: msg`Counted by the vendor's tool`,
};
