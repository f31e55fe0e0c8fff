import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Rescan } from "@/api/types";
import { rescansQuery, useCancelRescan, useRescan } from "@/queries/rescans";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { MaintenanceFrame } from "./MaintenanceFrame";
import { RESCANS } from "./words";

/** Scans of all registries and all images: what was last done, progress, and buttons to start and to cancel. */
export function RescansPage() {
  const { t } = useLingui();
  const query = useQuery(rescansQuery);
  usePageTitle(t`Scan everything`);
  return (
    <MaintenanceFrame
      title={t`Scan everything`}
      text={
        <Trans>
          Registries are read into the catalogue, and images on nodes are checked for known vulnerabilities,
          in the background.
        </Trans>
      }
      query={query}
      live
    >
      {(items) => (
        <Stack gap="xl">
          <RescanPanel kind="registries" latest={items.find((one) => one.kind === "registries")} />
          <RescanPanel kind="images" latest={items.find((one) => one.kind === "images")} />
        </Stack>
      )}
    </MaintenanceFrame>
  );
}

function RescanPanel({ kind, latest }: { kind: Rescan["kind"]; latest: Rescan | undefined }) {
  const { i18n } = useLingui();
  const start = useRescan();
  const cancel = useCancelRescan();
  const open = latest?.ended_at === null;
  const error = start.error ?? cancel.error;
  const words = RESCANS[kind];
  return (
    <Stack component="section" gap="xs" maw={640} aria-labelledby={`rescan-${kind}`}>
      <Title order={2} size="h5" id={`rescan-${kind}`}>
        {i18n._(words.title)}
      </Title>
      {latest ? (
        <Latest rescan={latest} />
      ) : (
        <Text size="sm" c="dimmed">
          <Trans>Never requested.</Trans>
        </Text>
      )}
      <Group gap="xs">
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          loading={start.isPending}
          disabled={open}
          onClick={() => {
            cancel.reset();
            start.mutate(kind);
          }}
        >
          {i18n._(words.start)}
        </Button>
        {open && (
          <Button
            variant="default"
            loading={cancel.isPending}
            disabled={latest.cancel}
            onClick={() => {
              start.reset();
              cancel.mutate(kind);
            }}
          >
            <Trans>Cancel scan</Trans>
          </Button>
        )}
      </Group>
      {error && <ProblemAlert problem={error} />}
      <CommandLine text={commandLine("carrel", kind === "images" ? "image" : "registry", "scan", "--all")} />
    </Stack>
  );
}

function Latest({ rescan }: { rescan: Rescan }) {
  const { t } = useLingui();
  const { total, waiting, running, done, failed, cancelled } = rescan;
  const ended = total - waiting - running;
  return (
    <Stack gap={4} role="status">
      <Text size="sm">
        {rescan.ended_at === null ? (
          <>
            {t`${ended} of ${total}`} · {t`${failed} failed`}
          </>
        ) : (
          <>
            {t`${done} done, ${failed} failed, ${cancelled} cancelled`} · <Instant at={rescan.ended_at} />
          </>
        )}
      </Text>
      {rescan.ended_at === null && (
        <Progress value={total ? (100 * ended) / total : 0} aria-label={t`Progress of the scan`} />
      )}
      <Text size="xs" c="dimmed">
        {rescan.requested_by ? t`Requested by ${rescan.requested_by}` : t`Requested`} ·{" "}
        <Instant at={rescan.requested_at} />
      </Text>
      {rescan.problem && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
          {rescan.problem}
        </Alert>
      )}
    </Stack>
  );
}
