import type { QueryClient } from "@tanstack/react-query";
import type { FolderTask } from "@/api/types";
import { latestTasksQuery } from "@/queries/tasks";
import { refreshFilesSoon, refreshSoon } from "./refresh";
import type { LiveEvent } from "./stream";

/** The task fields in an event: its id and the fields that changed. */
export type TaskChange = Partial<FolderTask> & Pick<FolderTask, "id" | "state">;

/** Whether a task has finished. */
export const isOver = (state: FolderTask["state"]): boolean => !["waiting", "running"].includes(state);

/**
 * Applies an event about a task or files to the caches.
 *
 * A task reports progress twice a second, also to administrators: cached tasks are patched. Lists are
 * refetched only when a task begins or ends. Returns the change if the task is the user's own.
 */
export async function applyFolderEvent(client: QueryClient, event: LiveEvent): Promise<TaskChange | null> {
  if (event.kind === "files.changed") {
    refreshSoon(client, ["audit"]);
    if (event.object) refreshFilesSoon(client, event.object.id);
    return null;
  }
  const change = event.data as TaskChange;
  const known = patchTask(client, change);
  if (change.state === "waiting") refreshSoon(client, ["tasks"]);
  if (isOver(change.state)) {
    refreshSoon(client, ["tasks", "folders", "quotas", "audit"]);
    if (change.folder_id) refreshFilesSoon(client, change.folder_id);
  }
  return known || (change.state === "failed" && (await isOwn(client, change.id))) ? change : null;
}

/** Whether the user started a task that ended before a list contained it. */
async function isOwn(client: QueryClient, id: string): Promise<boolean> {
  const own = await client.fetchQuery(latestTasksQuery).catch(() => []);
  return own.some((task) => task.id === id);
}

/** Patches a task in every cached list; false if none contains it. */
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
