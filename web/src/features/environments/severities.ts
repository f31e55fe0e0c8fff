import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Vulnerability } from "@/api/types";
import { formatPercent } from "@/ui/format";
import type { StateLook } from "@/ui/state-looks";

/** From the most to the least severe. */
export const SEVERITIES: Record<Vulnerability["severity"], { title: MessageDescriptor; look: StateLook }> = {
  critical: { title: msg`critical`, look: "failed" },
  high: { title: msg`high`, look: "failed" },
  medium: { title: msg`medium`, look: "warning" },
  low: { title: msg`low`, look: "unknown" },
  unknown: { title: msg`unknown`, look: "unknown" },
};

/** How severe it is by CVSS and how probably it is exploited; nothing of what the scanner does not tell. */
export function scoresOf(row: Vulnerability, locale: string): string[] {
  const { cvss_score: score, cvss_vector: vector, epss } = row;
  return [
    ...(score === null ? [] : [`CVSS ${score.toFixed(1)}`]),
    ...(epss === null ? [] : [`EPSS ${formatPercent(epss, locale)}`]),
    ...(vector ? [vector] : []),
  ];
}
