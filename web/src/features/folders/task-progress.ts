import type { FolderTask } from "@/api/types";

/** The progress of a task, 0 to 1; null if unknown. */
export function taskFraction(task: FolderTask): number | null {
  if (task.state === "done") return 1;
  if (task.total_bytes) return Math.min(1, task.done_bytes / task.total_bytes);
  if (task.total_files) return Math.min(1, task.done_files / task.total_files);
  return null;
}
