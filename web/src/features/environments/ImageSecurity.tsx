import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ImageScan } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { imageScansQuery, useCancelImageScan, useScanImage } from "@/queries/image-scans";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { ExemptionForm } from "./ExemptionForm";
import { SCAN_STATES } from "./registry-words";
import { SecurityBadge } from "./SecurityBadge";
import { VulnerabilityRows } from "./VulnerabilityRows";

/** What a scan found in an image: packages, vulnerabilities, SBOM; for superadmins also scans and exemptions. */
export function ImageSecurity({ image }: { image: string }) {
  const me = useMe();
  const query = useQuery(imageScansQuery([image]));
  const scan = query.data?.[0];
  return (
    <Stack component="section" gap="xs">
      <Title order={3} size="h6">
        <Trans>Security</Trans>
      </Title>
      {query.isPending ? (
        <Skeleton height={40} aria-busy />
      ) : query.error ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <Summary scan={scan} />
          {may(me, "image.scan") && <ScanButtons image={image} scan={scan} />}
          {scan?.scanned_at && <VulnerabilityRows scan={scan} />}
          {scan && may(me, "image.exempt") && scan.effect !== "none" && <ExemptionForm scan={scan} />}
        </>
      )}
    </Stack>
  );
}

function Summary({ scan }: { scan: ImageScan | undefined }) {
  const { t, i18n } = useLingui();
  if (!scan)
    return (
      <Text size="sm" c="dimmed">
        <Trans>Not scanned yet. Images are scanned when a node has them, if a scanner is set up.</Trans>
      </Text>
    );
  const { title, look } = SCAN_STATES[scan.state];
  const { target } = scan;
  return (
    <Stack gap={4} role="status">
      <Group gap="xs">
        <SecurityBadge scan={scan} />
        {scan.state !== "done" && !(scan.state === "failed" && !scan.scanned_at) && (
          <StateBadge look={look} state={scan.state}>
            {i18n._(title)}
          </StateBadge>
        )}
      </Group>
      {scan.scanned_at && (
        <Text size="xs" c="dimmed">
          <Plural value={scan.packages} one="# package" other="# packages" /> · {scan.scanner} ·{" "}
          <Instant at={scan.scanned_at} /> ·{" "}
          <Anchor size="xs" href={`/api/v1/image-scans/${scan.id}/sbom`} download>
            <Trans>Download SBOM</Trans>
          </Anchor>
        </Text>
      )}
      {target && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          <Trans>Scanned: {target}</Trans>
        </Text>
      )}
      {scan.outdated && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
          <Trans>This result is outdated: the catalogue has another digest of the image by now.</Trans>
        </Alert>
      )}
      {scan.problem && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
          {scan.problem}
        </Alert>
      )}
      {scan.exemption && (
        <Text size="sm">
          {t`Exempt from the rule until ${scan.exemption.until.slice(0, 10)}, by ${scan.exemption.by}: ${scan.exemption.reason}`}
        </Text>
      )}
    </Stack>
  );
}

function ScanButtons({ image, scan }: { image: string; scan: ImageScan | undefined }) {
  const start = useScanImage();
  const cancel = useCancelImageScan();
  const open = scan?.ended_at === null;
  const error = start.error ?? cancel.error;
  return (
    <>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          loading={start.isPending}
          disabled={open}
          onClick={() => {
            cancel.reset();
            start.mutate(image);
          }}
        >
          <Trans>Scan now</Trans>
        </Button>
        {open && (
          <Button
            variant="default"
            size="xs"
            loading={cancel.isPending}
            disabled={scan.cancel}
            onClick={() => {
              start.reset();
              cancel.mutate(scan.id);
            }}
          >
            <Trans>Cancel scan</Trans>
          </Button>
        )}
      </Group>
      {error && <ProblemAlert problem={error} />}
    </>
  );
}
