import { Trans, useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import type { ImageScan, Vulnerability } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { SEVERITIES } from "./severities";

/** The most severe known vulnerabilities of an image, and whether it may be used; for lists. */
export function SecurityBadge({ scan }: { scan: ImageScan | undefined }) {
  const { i18n } = useLingui();
  if (!scan?.scanned_at)
    return (
      <StateBadge look={scan?.state === "failed" ? "warning" : "unknown"} state={scan?.state ?? "none"}>
        {scan?.state === "failed" ? <Trans>scan failed</Trans> : <Trans>not scanned</Trans>}
      </StateBadge>
    );
  const severities = Object.keys(SEVERITIES) as Vulnerability["severity"][];
  const worst = severities.find((severity) => scan.counts[severity] > 0);
  const word = worst && i18n._(SEVERITIES[worst].title);
  return (
    <Group gap={4} wrap="nowrap">
      {worst ? (
        <StateBadge look={SEVERITIES[worst].look} state={worst}>
          {scan.counts[worst]} {word}
        </StateBadge>
      ) : (
        <StateBadge look="ok" state="clean">
          <Trans>no known vulnerability</Trans>
        </StateBadge>
      )}
      {scan.outdated && (
        <StateBadge look="unknown" state="outdated">
          <Trans>outdated scan</Trans>
        </StateBadge>
      )}
      {scan.effect === "refuse" && (
        <StateBadge look="refused" state="refuse">
          <Trans>sessions refused</Trans>
        </StateBadge>
      )}
    </Group>
  );
}
