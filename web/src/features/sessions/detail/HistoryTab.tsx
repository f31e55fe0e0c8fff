import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { HistoryEntry } from "@/api/types";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { sessionsHistoryQuery } from "@/queries/sessions";
import { useSessionText } from "@/sentences/use-session-text";
import { formatDuration } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./SessionDrawer.module.css";
import { StartTimeline } from "./StartTimeline";
import { formatLasted } from "./start-steps";

/** How long the last start of a session took, and every state transition with time, cause and actor. */
export function HistoryTab({ id }: { id: string }) {
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        <Text component="h3" size="sm" fw={600}>
          <Trans>Start-up</Trans>
        </Text>
        <StartTimeline id={id} />
      </Stack>
      <Stack gap="xs">
        <Text component="h3" size="sm" fw={600}>
          <Trans>State changes</Trans>
        </Text>
        <Transitions id={id} />
      </Stack>
    </Stack>
  );
}

function Transitions({ id }: { id: string }) {
  const { t } = useLingui();
  const history = useQuery(sessionsHistoryQuery(id));
  if (history.isPending) return <Skeleton height={160} />;
  if (history.isError) return <ProblemAlert problem={history.error} onRetry={() => void history.refetch()} />;
  return (
    <ol className={styles.steps} aria-label={t`State changes`}>
      {history.data.map((entry, index) => (
        <Step
          key={`${entry.at}:${entry.to_state}:${entry.cause}:${entry.reason}`}
          entry={entry}
          next={history.data[index + 1]}
        />
      ))}
    </ol>
  );
}

function Step({ entry, next }: { entry: HistoryEntry; next: HistoryEntry | undefined }) {
  const { i18n } = useLingui();
  const sessionText = useSessionText();
  const lasted = next ? Date.parse(next.at) - Date.parse(entry.at) : null;
  const note = entry.from_state === entry.to_state;
  return (
    <li className={styles.step}>
      <Stack gap={3}>
        <Group gap="xs">
          {!note && <SessionBadge state={entry.to_state} />}
          <Text size="xs" c="dimmed" title={entry.cause}>
            {sessionText.cause(entry.cause)}
          </Text>
          {lasted !== null && (
            <Text size="xs" c="dimmed">
              <Trans>for {(lasted < 1000 ? formatLasted : formatDuration)(lasted, i18n.locale)}</Trans>
            </Text>
          )}
        </Group>
        {entry.reason && <Text size="sm">{sessionText.reason(entry.reason)}</Text>}
        <Text size="xs" c="dimmed">
          <Instant at={entry.at} />
          {entry.actor && (
            <>
              {" · "}
              <Trans>by {entry.actor}</Trans>
            </>
          )}
        </Text>
      </Stack>
    </li>
  );
}
