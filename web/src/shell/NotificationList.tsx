import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import type { FolderTask, Session } from "@/api/types";
import { TaskCard } from "@/features/folders/TaskCard";
import { EndingText, endingOf } from "@/features/idle/EndingText";
import { KeepButton } from "@/features/idle/KeepButton";
import { ExtendButton } from "@/features/sessions/detail/LifeButtons";
import { ProgressLine } from "@/features/sessions/ProgressLine";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import type { Batch } from "@/features/uploads/batches";
import { uploads } from "@/features/uploads/queue";
import { UploadCard } from "@/features/uploads/UploadCard";
import type { Notice } from "@/live/notices";
import { useSessionText } from "@/sentences/use-session-text";
import styles from "@/ui/Card.module.css";
import { EmptyState } from "@/ui/EmptyState";
import { formatTime } from "@/ui/format";

interface Props {
  underWay: Session[];
  /** Sessions that end soon for being idle or at their time limit. */
  ending: Session[];
  tasks: FolderTask[];
  batches: Batch[];
  notices: readonly Notice[];
  onOpen: (sessionId: string) => void;
  onFolder: (folderId: string) => void;
  onClear: () => void;
}

export function NotificationList(props: Props) {
  const { underWay, ending, tasks, batches, notices, onOpen, onFolder, onClear } = props;
  const { t, i18n } = useLingui();
  const sessionText = useSessionText();
  if (underWay.length + ending.length + tasks.length + batches.length + notices.length === 0) {
    return (
      <EmptyState
        title={t`No tasks in progress`}
        text={t`Session events, uploads and folder tasks appear here.`}
      />
    );
  }
  return (
    <Stack gap="lg">
      {batches.length > 0 && (
        <Stack gap="xs" component="section">
          <Group justify="space-between">
            <Title order={3} size="h6">
              <Trans>Uploads</Trans>
            </Title>
            {batches.some(({ state }) => state === "over") && (
              <Button variant="subtle" color="gray" size="compact-xs" onClick={() => uploads.clear()}>
                <Trans>Clear</Trans>
              </Button>
            )}
          </Group>
          {batches.map((batch) => (
            <UploadCard key={batch.key} batch={batch} onOpen={onFolder} />
          ))}
        </Stack>
      )}
      {tasks.length > 0 && (
        <Stack gap="xs" component="section">
          <Title order={3} size="h6">
            <Trans>Folders</Trans>
          </Title>
          {tasks.map((task) => (
            <TaskCard key={task.id} task={task} />
          ))}
        </Stack>
      )}
      {ending.length > 0 && (
        <Stack gap="xs" component="section">
          <Title order={3} size="h6">
            <Trans>About to end</Trans>
          </Title>
          {ending.map((session) => (
            <div key={session.id} className={styles.card}>
              <UnstyledButton onClick={() => onOpen(session.id)}>
                <Text size="sm" fw={600} truncate>
                  {session.name}
                </Text>
              </UnstyledButton>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <Text size="xs">
                  <EndingText session={session} />
                </Text>
                {endingOf(session)?.idle ? (
                  <KeepButton id={session.id} />
                ) : (
                  <ExtendButton session={session} />
                )}
              </Group>
            </div>
          ))}
        </Stack>
      )}
      {underWay.length > 0 && (
        <Stack gap="xs" component="section">
          <Title order={3} size="h6">
            <Trans>In progress</Trans>
          </Title>
          {underWay.map((session) => (
            <UnstyledButton key={session.id} className={styles.card} onClick={() => onOpen(session.id)}>
              <Group justify="space-between" wrap="nowrap" gap="xs">
                <Text size="sm" fw={600} truncate>
                  {session.name}
                </Text>
                <SessionBadge state={session.state} />
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
                {notice.state && <SessionBadge state={notice.state} />}
              </Group>
              {notice.sharedBy && (
                <Text size="xs">
                  <Trans>{notice.sharedBy} shared it with you</Trans>
                </Text>
              )}
              {notice.reason && <Text size="xs">{sessionText.reason(notice.reason)}</Text>}
              <Text size="xs" c="dimmed">
                {formatTime(notice.at, i18n.locale)}
              </Text>
            </UnstyledButton>
          ))}
        </Stack>
      )}
    </Stack>
  );
}
