import { useLingui } from "@lingui/react/macro";
import { Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { folderTasksQuery } from "@/queries/tasks";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { TaskCard } from "./TaskCard";

/** What was and is being done with a folder that takes long. */
export function TasksTab({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const found = useQuery(folderTasksQuery(folder.id));
  if (found.isPending) return <Skeleton height={120} aria-busy />;
  if (found.isError) return <ProblemAlert problem={found.error} onRetry={() => void found.refetch()} />;
  if (found.data.length === 0) {
    return <EmptyState title={t`No tasks`} text={t`Your clone, move and copy tasks appear here.`} />;
  }
  return (
    <Stack gap="xs" aria-label={t`Tasks`} component="section">
      {found.data.map((task) => (
        <TaskCard key={task.id} task={task} />
      ))}
    </Stack>
  );
}
