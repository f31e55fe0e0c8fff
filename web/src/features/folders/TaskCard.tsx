import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { FolderTask } from "@/api/types";
import { isOver } from "@/live/folders";
import { useCancelTask } from "@/queries/tasks";
import { useProblemText } from "@/sentences/use-problem-text";
import styles from "@/ui/Card.module.css";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import { TaskBar } from "./TaskBar";
import { TASK_KINDS, TASK_STATES } from "./words";

/** A task with its folder, progress and a cancel button. */
export function TaskCard({ task }: { task: FolderTask }) {
  const { t, i18n } = useLingui();
  const problemText = useProblemText();
  const cancel = useCancelTask();
  const kind = i18n._(TASK_KINDS[task.kind]);
  const { title, look } = TASK_STATES[task.state];
  const cancellable = !isOver(task.state) && task.kind !== "remove" && task.kind !== "clean";
  const end = () =>
    cancel.mutate(task.id, {
      onError: (thrown) =>
        notifications.show({
          color: "red",
          title: t`Could not cancel the task`,
          message: problemText(thrown).detail,
        }),
    });
  return (
    <Stack gap={4} className={styles.card} component="article" aria-label={`${kind}: ${task.folder_name}`}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" fw={600} truncate>
          {kind}: {task.folder_name}
        </Text>
        <StateBadge look={look}>{i18n._(title)}</StateBadge>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <TaskBar task={task} />
        {cancellable && (
          <Button size="compact-xs" variant="subtle" color="gray" loading={cancel.isPending} onClick={end}>
            <Trans>Cancel</Trans>
          </Button>
        )}
      </Group>
      {task.problem && (
        <Text size="xs" c="var(--carrel-bad)">
          {task.problem}
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        <Instant at={task.ended_at ?? task.created_at} />
      </Text>
    </Stack>
  );
}
