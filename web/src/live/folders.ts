import type { QueryClient } from "@tanstack/react-query";
import type { FolderTask } from "@/api/types";
import { refreshSoon } from "./refresh";
import type { LiveEvent } from "./stream";

/** What an event says about a task: its id and how it is now. */
export type TaskChange = Partial<FolderTask> & { id: string };

/** True when a task will not go on. */
export const isOver = (state: FolderTask["state"]): boolean => !["waiting", "running"].includes(state);

/**
 * Puts what an event says about a task or about files into the caches.
 *
 * A task says twice a second how far it is: that is patched in where the task is known. Lists are asked for again only
 * when it begins and when it ends. Gives the change, when the event is about a task.
 */
export function applyFolderEvent(client: QueryClient, event: LiveEvent): TaskChange | null {
  if (event.kind === "files.changed") {
    const folder = event.object?.id;
    if (folder) void client.invalidateQueries({ predicate: ({ queryKey }) => isOf(folder, queryKey) });
    return null;
  }
  const change = event.data as TaskChange;
  const known = patchTask(client, change);
  if (!known) refreshSoon(client, ["tasks"]);
  if (!change.state || isOver(change.state)) refreshSoon(client, ["tasks", "folders", "files", "quotas"]);
  return change;
}

/** Whether a list of files is of this folder; what files hold is asked for by their ETag, and stays. */
function isOf(folder: string, [kind, what, of]: readonly unknown[]): boolean {
  return kind === "files" && what !== "content" && of === folder;
}

/** Patches a task in every list that has it; false when none does. */
function patchTask(client: QueryClient, change: TaskChange): boolean {
  let known = false;
  client.setQueriesData<FolderTask[]>({ queryKey: ["tasks"] }, (tasks) =>
    tasks?.map((task) => {
      if (task.id !== change.id) return task;
      known = true;
      return { ...task, ...change };
    }),
  );
  return known;
}
