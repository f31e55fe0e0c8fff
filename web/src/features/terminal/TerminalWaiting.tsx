import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Loader, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { ProgressLine } from "@/features/sessions/ProgressLine";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { useSessionText } from "@/sentences/use-session-text";

/** Shown until the session runs; the terminal then opens automatically. */
export function TerminalWaiting({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const sessionText = useSessionText();
  const ended = hasEnded(session.state);
  return (
    <Stack align="center" justify="center" h="100%" p="xl" gap="sm">
      {!ended && <Loader size="sm" aria-label={t`Pending`} />}
      <SessionBadge state={session.state} />
      <Text ta="center">
        {ended ? (
          <Trans>{session.name} has ended. Its terminal is not available.</Trans>
        ) : (
          <Trans>The terminal opens when {session.name} is running.</Trans>
        )}
      </Text>
      {ended && session.reason && (
        <Text size="sm" c="dimmed" ta="center">
          {sessionText.reason(session.reason)}
        </Text>
      )}
      <ProgressLine session={session} />
      <Button component={Link} to={`/sessions?state=all&session=${session.id}`} variant="default" size="xs">
        <Trans>Show session</Trans>
      </Button>
    </Stack>
  );
}
