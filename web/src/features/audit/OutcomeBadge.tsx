import { Trans } from "@lingui/react/macro";
import type { AuditEntry } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";

/** Whether an action was done or refused, as a badge. */
export function OutcomeBadge({ outcome }: Pick<AuditEntry, "outcome">) {
  return outcome === "refused" ? (
    <StateBadge look="refused" state="refused">
      <Trans>refused</Trans>
    </StateBadge>
  ) : (
    <StateBadge look="ok" state="done">
      <Trans>done</Trans>
    </StateBadge>
  );
}
