import { useLingui } from "@lingui/react/macro";
import { Progress, Stack, Text } from "@mantine/core";
import { isUnderWay } from "@/api/session-states";
import type { Session } from "@/api/types";
import { useSessionText } from "@/sentences/use-session-text";

/** Why a session is not running yet, and its progress. Empty for other states. */
export function ProgressLine({ session, oneLine = false }: { session: Session; oneLine?: boolean }) {
  const { t } = useLingui();
  const sessionText = useSessionText();
  if (!isUnderWay(session.state)) return null;
  const { progress, reason, queue_position: place } = session;
  const queue = place != null && session.state === "PENDING" ? t`Queue position ${place}.` : "";
  const text =
    (progress?.text && sessionText.progress(progress)) ||
    [queue, reason && sessionText.reason(reason)].filter(Boolean).join(" ");
  if (!text && progress?.fraction == null) return null;
  return (
    <Stack gap={4} mt={oneLine ? 0 : 4}>
      {text && (
        <Text size="xs" c="dimmed" truncate={oneLine} title={oneLine ? text : undefined}>
          {text}
        </Text>
      )}
      {progress?.fraction != null && (
        <Progress size="xs" color="brass" value={progress.fraction * 100} aria-label={text || t`Progress`} />
      )}
    </Stack>
  );
}
