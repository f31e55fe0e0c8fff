import type { QueryClient } from "@tanstack/react-query";
import type { FolderTask } from "@/api/types";
import { latestTasksQuery } from "@/queries/tasks";
import { refreshFilesSoon, refreshSoon } from "./refresh";
import type { LiveEvent } from "./stream";

/** What an event says about a task: its id and how it is now. */
export type TaskChange = Partial<FolderTask> & Pick<FolderTask, "id" | "state">;

/** True when a task will not go on. */
export const isOver = (state: FolderTask["state"]): boolean => !["waiting", "running"].includes(state);

/**
 * Puts what an event says about a task or about files into the caches.
 *
 * A task says twice a second how far it is, also to who administers the place: that is patched in where the task is
 * known. Lists are asked for again only when it begins and when it ends. Gives the change, when it is of a task that
 * this person had done.
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

/** Whether this person asked for a task that ended before it came into a list. */
async function isOwn(client: QueryClient, id: string): Promise<boolean> {
  const own = await client.fetchQuery(latestTasksQuery).catch(() => []);
  return own.some((task) => task.id === id);
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
