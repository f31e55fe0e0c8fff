import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FolderTask } from "@/api/types";
import { applyEvent } from "@/live/apply";
import { refreshFilesSoon } from "@/live/refresh";
import { contentQuery, editedQuery, filesListQuery, filesShowQuery } from "@/queries/files";
import { folderTasksQuery, openTasksQuery } from "@/queries/tasks";

const own = vi.hoisted(() => vi.fn());
vi.mock("@/api/generated/sdk.gen", () => ({ vfolderTasksList: own }));

const keys = {
  list: filesListQuery("f", "", "name").queryKey,
  show: filesShowQuery("f", "a.pdf").queryKey,
  other: filesListQuery("g", "", "name").queryKey,
  content: contentQuery("f", "a.pdf", "1", 9).queryKey,
  edited: editedQuery("f", "a.txt", 0).queryKey,
  tasks: openTasksQuery.queryKey,
  audit: ["audit", "list"],
  folders: ["folders", "list"],
};
const task = (id: string, state: FolderTask["state"]) =>
  ({ id, kind: "copy", folder_id: "f", folder_name: "data", state, done_files: 0 }) as FolderTask;
let client: QueryClient;

beforeEach(() => {
  vi.useFakeTimers();
  own.mockReset();
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  for (const key of Object.values(keys)) client.setQueryData(key, []);
  client.setQueryData(openTasksQuery.queryKey, [task("mine", "running")]);
});

afterEach(() => vi.runAllTimersAsync());

/** What is asked for again a moment later. */
async function refreshed(): Promise<string[]> {
  await vi.advanceTimersByTimeAsync(1000);
  return Object.entries(keys)
    .filter(([, key]) => client.getQueryState(key)?.isInvalidated)
    .map(([name]) => name);
}
const tell = (change: object) => applyEvent(client, { kind: "vfolder_task.updated", data: change }, "me");

describe("files that changed", () => {
  test("are listed again in their folder alone, and what they hold is not asked for again", async () => {
    await applyEvent(client, { kind: "files.changed", object: { kind: "vfolder", id: "f" }, data: {} }, "me");
    expect(await refreshed()).toEqual(["list", "show", "audit"]);
  });

  test("by an upload are listed again in their folder alone", async () => {
    refreshFilesSoon(client, "g");
    refreshFilesSoon(client, "f");
    refreshFilesSoon(client, "f");
    expect(await refreshed()).toEqual(["list", "show", "other"]);
  });

  test("by a long upload are listed once a second, and once more at its end", async () => {
    const listed = vi.spyOn(client, "invalidateQueries");
    for (let told = 0; told < 50; told += 1) {
      refreshFilesSoon(client, "f");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(listed).toHaveBeenCalledTimes(5);
    await vi.advanceTimersByTimeAsync(5000);
    expect(listed).toHaveBeenCalledTimes(6);
  });

  test("by a long upload cost one request a second, however many lists of them are shown", async () => {
    const ask = vi.fn(async () => []);
    const ends = [keys.list, ["files", "directories", "f", ""], ["files", "directories", "f", "a"]].map(
      (queryKey) => new QueryObserver(client, { queryKey, queryFn: ask }).subscribe(() => undefined),
    );
    await vi.advanceTimersByTimeAsync(1);
    ask.mockClear();
    for (let told = 0; told < 90; told += 1) {
      refreshFilesSoon(client, "f");
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(ask).toHaveBeenCalledTimes(9);
    for (const end of ends) end();
  });

  test("by what this page did leave alone what files hold, and what is being written", async () => {
    await client.invalidateQueries({ queryKey: ["files"] });
    expect(await refreshed()).toEqual(["list", "show", "other"]);
  });
});

describe("a task of a folder", () => {
  test("of one's own is patched as it goes on, and asks nothing", async () => {
    expect(await tell({ ...task("mine", "running"), done_files: 7 })).toMatchObject({ task: { id: "mine" } });
    expect(client.getQueryData(openTasksQuery.queryKey)).toMatchObject([{ id: "mine", done_files: 7 }]);
    expect(await refreshed()).toEqual([]);
  });

  test("of somebody else asks nothing as it goes on, and is nobody's notice", async () => {
    expect(await tell(task("theirs", "running"))).toBeNull();
    expect(await refreshed()).toEqual([]);
  });

  test("is asked for when it begins", async () => {
    await tell(task("new", "waiting"));
    expect(await refreshed()).toEqual(["tasks"]);
  });

  test("that ends has the lists of its folder asked for again", async () => {
    client.setQueryData(folderTasksQuery("g").queryKey, []);
    expect(await tell(task("mine", "done"))).toMatchObject({ task: { state: "done" } });
    expect(await refreshed()).toEqual(["list", "show", "tasks", "audit", "folders"]);
  });

  test("that failed before it was known is a notice for whoever asked for it alone", async () => {
    own.mockResolvedValue({ data: { items: [task("quick", "failed")] } });
    expect(await tell(task("quick", "failed"))).toMatchObject({ task: { id: "quick" } });
    expect(await tell(task("theirs", "failed"))).toBeNull();
    expect(await tell(task("theirs", "done"))).toBeNull();
    expect(own).toHaveBeenCalledTimes(2);
  });
});
