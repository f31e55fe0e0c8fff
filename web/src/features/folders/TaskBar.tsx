import { useLingui } from "@lingui/react/macro";
import { Group, Progress, Text } from "@mantine/core";
import type { FolderTask } from "@/api/types";
import { isOver } from "@/live/folders";
import { formatSize } from "@/ui/format";
import { taskFraction } from "./task-progress";
import { TASK_KINDS } from "./words";

/** The progress of a task as a bar; with figures unless `bare`. */
export function TaskBar({ task, bare = false }: { task: FolderTask; bare?: boolean }) {
  const { t, i18n } = useLingui();
  if (isOver(task.state)) return null;
  const fraction = taskFraction(task);
  const percent = Math.round((fraction ?? 0) * 100);
  const kind = i18n._(TASK_KINDS[task.kind]);
  const label = fraction === null ? kind : t`${kind}: ${percent}%`;
  return (
    <Group
      gap="xs"
      wrap="nowrap"
      style={{ flex: bare ? "0 1 7rem" : 1, minWidth: bare ? "3rem" : 0 }}
      title={label}
    >
      <Progress
        size="sm"
        style={{ flex: 1 }}
        value={fraction === null ? 100 : percent}
        animated={fraction === null}
        aria-label={label}
      />
      {!bare && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {task.total_bytes
            ? `${formatSize(task.done_bytes)} / ${formatSize(task.total_bytes)}`
            : t`${task.done_files} files`}
        </Text>
      )}
    </Group>
  );
}
