import { useLingui } from "@lingui/react/macro";
import { Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { folderTasksQuery } from "@/queries/tasks";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { TaskCard } from "./TaskCard";

/** Long-running tasks on a folder, current and past. */
export function TasksTab({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const query = useQuery(folderTasksQuery(folder.id));
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (query.data.length === 0) {
    return <EmptyState title={t`No tasks`} text={t`Your clone, move and copy tasks appear here.`} />;
  }
  return (
    <Stack gap="xs" aria-label={t`Tasks`} component="section">
      {query.data.map((task) => (
        <TaskCard key={task.id} task={task} />
      ))}
    </Stack>
  );
}
