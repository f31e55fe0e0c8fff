import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import type { Session } from "@/api/types";
import type { Notice } from "@/live/notices";
import { useSessionText } from "@/sentences/use-session-text";
import { ProgressLine } from "@/sessions/ProgressLine";
import { StateBadge } from "@/sessions/StateBadge";
import { EmptyState } from "@/ui/EmptyState";
import { writing } from "@/ui/format";
import styles from "./NotificationList.module.css";

interface Props {
  underWay: Session[];
  notices: readonly Notice[];
  onOpen: (sessionId: string) => void;
  onClear: () => void;
}

export function NotificationList({ underWay, notices, onOpen, onClear }: Props) {
  const { t, i18n } = useLingui();
  const said = useSessionText();
  if (underWay.length === 0 && notices.length === 0) {
    return (
      <EmptyState
        title={t`Nothing is under way`}
        text={t`Sessions that start, run, fail or end show up here.`}
      />
    );
  }
  const time = new Intl.DateTimeFormat(writing(i18n.locale), { timeStyle: "short" });
  return (
    <Stack gap="lg">
      {underWay.length > 0 && (
        <Stack gap="xs" component="section">
          <Title order={3} size="h6">
            <Trans>Under way</Trans>
          </Title>
          {underWay.map((session) => (
            <UnstyledButton key={session.id} className={styles.card} onClick={() => onOpen(session.id)}>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <Text size="sm" fw={600} truncate>
                  {session.name}
                </Text>
                <StateBadge state={session.state} />
              </Group>
              <ProgressLine session={session} />
            </UnstyledButton>
          ))}
        </Stack>
      )}
      {notices.length > 0 && (
        <Stack gap="xs" component="section">
          <Group justify="space-between">
            <Title order={3} size="h6">
              <Trans>Since you opened this page</Trans>
            </Title>
            <Button variant="subtle" color="gray" size="compact-xs" onClick={onClear}>
              <Trans>Clear</Trans>
            </Button>
          </Group>
          {notices.map((notice) => (
            <UnstyledButton key={notice.key} className={styles.card} onClick={() => onOpen(notice.sessionId)}>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <Text size="sm" fw={600} truncate>
                  {notice.name}
                </Text>
                <StateBadge state={notice.state} />
              </Group>
              {notice.reason && <Text size="xs">{said.reason(notice.reason)}</Text>}
              <Text size="xs" c="dimmed">
                {time.format(notice.at)}
              </Text>
            </UnstyledButton>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
