import { Trans } from "@lingui/react/macro";
import type { Slots } from "@/api/types";
import { slotText } from "@/ui/slots";

/** The ceilings in one line. */
export function CeilingsText({ ceilings }: { ceilings: Slots }) {
  const limits = Object.entries(ceilings);
  if (limits.length === 0) return <Trans>not limited</Trans>;
  return limits.map(([slot, amount]) => slotText(slot, amount)).join(" · ");
}
