import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Progress, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Registry, RegistryScan } from "@/api/types";
import { latestScanQuery, useCancelScan, useScanRegistry } from "@/queries/registries";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { SCAN_STATES } from "./registry-words";

/** The latest scan of a registry, which is live, and the buttons to scan and to cancel. */
export function ScanPanel({ registry }: { registry: Registry }) {
  const latest = useQuery(latestScanQuery(registry.id));
  const scan = useScanRegistry();
  const cancel = useCancelScan();
  const open = latest.data?.ended_at === null;
  const error = scan.error ?? cancel.error;
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        <Trans>Scan</Trans>
      </Title>
      <Text size="sm" c="dimmed">
        <Trans>Reads the permitted repositories and tags into the catalogue of images.</Trans>
      </Text>
      {latest.isPending ? (
        <Skeleton height={40} aria-busy />
      ) : latest.error ? (
        <ProblemAlert problem={latest.error} onRetry={() => void latest.refetch()} />
      ) : latest.data ? (
        <ScanState scan={latest.data} />
      ) : (
        <Text size="sm">
          <Trans>Not scanned yet.</Trans>
        </Text>
      )}
      <Group gap="xs">
        <Button
          variant="default"
          loading={scan.isPending}
          disabled={open}
          onClick={() => {
            cancel.reset();
            scan.mutate(registry.id);
          }}
        >
          <Trans>Scan now</Trans>
        </Button>
        {open && (
          <Button
            variant="default"
            loading={cancel.isPending}
            disabled={latest.data?.cancel}
            onClick={() => {
              scan.reset();
              cancel.mutate(registry.id);
            }}
          >
            <Trans>Cancel scan</Trans>
          </Button>
        )}
      </Group>
      {error && <ProblemAlert problem={error} />}
    </Stack>
  );
}

function ScanState({ scan }: { scan: RegistryScan }) {
  const { t, i18n } = useLingui();
  const { title, look } = SCAN_STATES[scan.state];
  const { repositories: total, repositories_done: done } = scan;
  const percent = total ? (100 * done) / total : 0;
  return (
    <Stack gap={4} role="status">
      <Group gap="xs">
        <StateBadge look={look} state={scan.state}>
          {i18n._(title)}
        </StateBadge>
        <Text size="sm" c="dimmed">
          <Instant at={scan.ended_at ?? scan.created_at} />
        </Text>
      </Group>
      {scan.ended_at === null && <Progress value={percent} aria-label={t`Progress of the scan`} />}
      <Text size="sm">
        {total === null ? (
          <Trans>Listing repositories</Trans>
        ) : (
          <>
            {t`${done} of ${total} repositories`} · <Plural value={scan.tags} one="# tag" other="# tags" /> ·{" "}
            {t`${scan.added} added, ${scan.updated} changed, ${scan.removed} removed`}
            {scan.layers > 0 && (
              <>
                {" "}
                · <Plural value={scan.layers} one="# layer read" other="# layers read" /> (
                {formatSize(scan.layer_bytes)})
              </>
            )}
          </>
        )}
      </Text>
      {scan.problem && (
        <Alert
          color={scan.state === "failed" ? "red" : "yellow"}
          variant="light"
          icon={<IconAlertTriangle size={18} aria-hidden />}
        >
          {scan.problem}
        </Alert>
      )}
    </Stack>
  );
}
