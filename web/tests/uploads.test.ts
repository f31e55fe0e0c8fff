import { beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "@/api/problem";
import { batchesOf } from "@/features/uploads/batches";
import { UploadQueue } from "@/features/uploads/queue";
import { begunUploads, releaseLock, rememberUpload } from "@/features/uploads/remembered";
import type { UploadOptions } from "@/features/uploads/transfer";
import { until } from "./waiting";

const sent = vi.hoisted(() => [] as { path: string; wish: UploadOptions }[]);
const givenUp = vi.hoisted(() => vi.fn(async () => undefined));
vi.mock("@/features/uploads/transfer", () => ({
  SMALL: 1,
  terminate: givenUp,
  transferOf: (_file: File, wish: UploadOptions) => {
    sent.push({ path: wish.path, wish });
    return { start: () => undefined, abort: async () => undefined };
  },
}));
vi.mock("@/features/uploads/packs", async (original) => ({
  ...(await original<typeof import("@/features/uploads/packs")>()),
  PACKED: -1, // each goes by itself; those that go together: packs.test.ts
}));
vi.mock("@/routing/load-again", () => import("./load-once"));

const FOLDER = { id: "f", name: "data" };
const refused = (status: number, code = `http.${status}`, details = {}) =>
  new Problem({ status, code, detail: code, details });
let queue: UploadQueue;
let stored: Map<string, string>;
/** The locks of this browser, of all its tabs. */
let held: Map<string, Promise<void>>;

beforeEach(() => {
  sent.length = 0;
  givenUp.mockClear();
  stored = new Map();
  vi.useRealTimers();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => void stored.set(key, text),
  });
  held = new Map();
  vi.stubGlobal("navigator", {
    locks: {
      query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }),
      request: (name: string, whileHeld: () => Promise<void>) => {
        const over = whileHeld().then(() => void held.delete(name));
        held.set(name, over);
        return over;
      },
    },
  });
  queue = new UploadQueue();
  queue.begin("me");
});

const add = (...paths: string[]) =>
  queue.add(
    FOLDER,
    paths.map((path) => ({ path, file: new File(["content"], path) })),
  );
/** The newest transfer of that path, once there are so many of it. */
const transfer = async (path: string, count = 1): Promise<UploadOptions> =>
  until(() => {
    const found = sent.filter((one) => one.path === path);
    expect(found).toHaveLength(count);
    return (found[count - 1] as (typeof found)[number]).wish;
  });
const states = async (wanted: Record<string, string>) =>
  until(() =>
    expect(Object.fromEntries(queue.read().map(({ path, state }) => [path, state]))).toEqual(wanted),
  );
const batchOf = (path: string) => queue.read().find((one) => one.path === path)?.batch ?? 0;

describe("an upload that failed", () => {
  test.each([0, 401, 423, 500, 503, 507])("goes on where it stopped after %i", async (status) => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(refused(status));
    await states({ a: "failed" });
    expect(Object.keys(begunUploads("me"))).toEqual(["/uploads/1"]);
    queue.retry(batchOf("a"));
    expect((await transfer("a", 2)).url).toBe("/uploads/1");
  });

  test("begins anew after an answer of no", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(refused(403));
    await states({ a: "failed" });
    expect(begunUploads("me")).toEqual({});
    queue.retry(batchOf("a"));
    expect((await transfer("a", 2)).url).toBeNull();
  });

  test("begins anew by itself when the server has let go of what had arrived", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(refused(503));
    await states({ a: "failed" });
    queue.retry(batchOf("a"));
    (await transfer("a", 2)).onProblem(refused(404));
    expect((await transfer("a", 3)).url).toBeNull();
    expect(begunUploads("me")).toEqual({});
  });

  test("is given up at the server when it is taken out of the list", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(refused(503));
    await states({ a: "failed" });
    queue.clear();
    await until(() => expect(givenUp).toHaveBeenCalledWith("/uploads/1"));
    expect(begunUploads("me")).toEqual({});
  });
});

describe("what is answered about a name that is taken", () => {
  const keyOf = (path: string) => queue.read().find((one) => one.path === path)?.key ?? 0;
  const taken = () => refused(409, "file.exists");

  test("holds for the others of its batch that are told so later", async () => {
    add("a", "b", "c", "d");
    for (const path of ["a", "b"]) (await transfer(path)).onProblem(taken());
    await states({ a: "asking", b: "asking", c: "sending", d: "sending" });
    queue.answer(keyOf("a"), "skip", true);
    for (const path of ["c", "d"]) (await transfer(path)).onProblem(taken());
    await states({ a: "skipped", b: "skipped", c: "skipped", d: "skipped" });
  });

  test("goes with those under way when they are told so, and with the rest at once", async () => {
    add("a", "b", "c", "d", "e");
    (await transfer("a")).onProblem(taken());
    await states({ a: "asking", b: "sending", c: "sending", d: "sending", e: "waiting" });
    queue.answer(keyOf("a"), "replace", true);
    (await transfer("b")).onProblem(taken());
    expect((await transfer("a", 2)).clash).toBe("replace");
    (await transfer("c")).onDone();
    expect((await transfer("b", 2)).clash).toBe("replace");
    (await transfer("d")).onDone();
    expect((await transfer("e")).clash).toBe("replace");
  });

  test("finishes what had arrived by then, which is not sent again", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(taken());
    await states({ a: "asking" });
    queue.answer(keyOf("a"), "replace", false);
    expect(await transfer("a", 2)).toMatchObject({ url: "/uploads/1", clash: "replace" });
    expect(givenUp).not.toHaveBeenCalled();
  });

  test("gives up at the server what had arrived when it is skipped", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    first.onProblem(taken());
    await states({ a: "asking" });
    queue.answer(keyOf("a"), "skip", false);
    await until(() => expect(givenUp).toHaveBeenCalledWith("/uploads/1"));
  });

  test("is asked for again when it did not help, and for another batch", async () => {
    add("a", "b");
    (await transfer("a")).onProblem(taken());
    await states({ a: "asking", b: "sending" });
    queue.answer(keyOf("a"), "replace", true);
    // A directory is not replaced by a file.
    (await transfer("a", 2)).onProblem(taken());
    await states({ a: "asking", b: "sending" });
    queue.answer(keyOf("a"), "rename", false);
    expect((await transfer("a", 3)).clash).toBe("rename");
    add("c");
    (await transfer("c")).onProblem(taken());
    await states({ a: "sending", b: "sending", c: "asking" });
  });
});

test("after too many requests all wait as long as the server says, and then go on", async () => {
  add("a", "b", "c", "d");
  const first = await transfer("a");
  await states({ a: "sending", b: "sending", c: "sending", d: "waiting" });
  vi.useFakeTimers();
  first.onUrl("/uploads/1");
  first.onProblem(refused(429, "rate.limited", { retry_after_s: 600 }));
  (await transfer("b")).onDone();
  await vi.advanceTimersByTimeAsync(599_000);
  expect(queue.read().map(({ path, state }) => [path, state])).toEqual([
    ["a", "waiting"],
    ["b", "done"],
    ["c", "sending"],
    ["d", "waiting"],
  ]);
  expect(batchesOf(queue.read())[0]?.troubles).toMatchObject([{ path: "a", problem: { status: 429 } }]);
  expect(sent).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await transfer("a", 2)).url).toBe("/uploads/1");
  await transfer("d");
  expect(batchesOf(queue.read())[0]?.troubles).toEqual([]);
});

describe("an upload that was begun before the page was loaded", () => {
  const file = new File(["content"], "a");
  const begun = (url: string, path: string) =>
    rememberUpload("you", url, { folder: FOLDER, path, name: "a", size: 7, modified: file.lastModified });
  /** As a page that is closed lets go of everything. */
  const closeTab = async () => {
    for (const url of Object.keys(begunUploads("you"))) releaseLock(url);
    await until(() => expect(held.size).toBe(0));
  };
  const lockOf = (url: string) => `carrel.upload ${url}`;

  test("is lost unless another tab is at it", async () => {
    begun("/uploads/1", "a");
    begun("/uploads/2", "b");
    await closeTab();
    held.set(lockOf("/uploads/2"), Promise.resolve());
    queue.begin("you");
    await states({ a: "lost" });
    expect(queue.resumeLost(queue.read()[0]?.key ?? 0, file)).toBe(true);
    expect((await transfer("a")).url).toBe("/uploads/1");
  });

  test("is not given up once another tab has gone on with it", async () => {
    begun("/uploads/1", "a");
    await closeTab();
    queue.begin("you");
    await states({ a: "lost" });
    held.set(lockOf("/uploads/1"), Promise.resolve());
    queue.cancel(batchOf("a"));
    await states({});
    expect(givenUp).not.toHaveBeenCalled();
    expect(Object.keys(begunUploads("you"))).toEqual(["/uploads/1"]);
  });

  test("can be gone on with elsewhere only when this tab has let go of it", async () => {
    add("a");
    const first = await transfer("a");
    first.onUrl("/uploads/1");
    expect([...held.keys()]).toEqual([lockOf("/uploads/1")]);
    first.onDone();
    await until(() => expect([...held.keys()]).toEqual([]));
  });
});
