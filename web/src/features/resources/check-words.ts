import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { AcceleratorCheck } from "@/api/types";
import type { StateLook } from "@/ui/state-looks";

export type Outcome = NonNullable<AcceleratorCheck["outcome"]>;
type Measure = AcceleratorCheck["results"][number]["measures"][number]["name"];

export const OUTCOMES: Record<Outcome, { title: MessageDescriptor; look: StateLook }> = {
  passed: { title: msg`passed`, look: "ok" },
  failed: { title: msg`failed`, look: "failed" },
  not_measured: { title: msg`not measured`, look: "cancelled" },
};

export const MEASURES: Record<Measure, MessageDescriptor> = {
  granted: msg`Attached`,
  isolated: msg`Isolated`,
  numbered: msg`Numbered from zero`,
  counted: msg`Counted by the vendor's tool`,
};
