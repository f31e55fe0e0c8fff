import { beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "@/api/problem";
import { packForm } from "@/features/uploads/form";
import { UploadQueue } from "@/features/uploads/queue";
import type { UploadOptions } from "@/features/uploads/transfer";
import { mayPrefetch } from "@/routing/prefetch";
import { until } from "./waiting";

interface Answer {
  paths?: string[];
  refused?: { path: string; code: string; message: string }[];
  problem?: Problem;
}

const wire = vi.hoisted(() => ({
  packs: [] as { clash: string; signal: AbortSignal; answer: (answer: Answer) => void }[],
  there: new Map<string, { size_bytes: number; modified_at: string }>(),
  single: [] as UploadOptions[],
}));
vi.mock("@/features/uploads/form", async (original) => ({
  ...(await original<typeof import("@/features/uploads/form")>()),
  sendForm: (_folder: string, clash: string, _files: unknown, signal: AbortSignal) =>
    new Promise((resolve, reject) => {
      const answer = ({ paths = [], refused = [], problem }: Answer) =>
        problem ? reject(problem) : resolve({ paths, refused });
      signal.addEventListener("abort", () => reject(new DOMException("ended", "AbortError")));
      wire.packs.push({ clash, signal, answer });
    }),
}));
vi.mock("@/api/generated/sdk.gen", () => ({
  filesShow: async ({ query }: { query: { path: string } }) => {
    const found = wire.there.get(query.path);
    if (!found) throw new Problem({ status: 404, code: "file.not_found", detail: "" });
    return { data: { kind: "file", ...found } };
  },
}));
vi.mock("@/features/uploads/transfer", () => ({
  SMALL: 1,
  terminate: async () => undefined,
  transferOf: (_file: File, wish: UploadOptions) => {
    wire.single.push(wish);
    return { start: () => undefined, abort: async () => undefined };
  },
}));
vi.mock("@/routing/load-again", () => import("./load-once"));

const FOLDER = { id: "f", name: "data" };
const MODIFIED = 1_700_000_000_250;
let queue: UploadQueue;

beforeEach(() => {
  wire.packs.length = 0;
  wire.single.length = 0;
  wire.there.clear();
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
  vi.stubGlobal("navigator", {});
  queue = new UploadQueue();
  queue.begin("me");
});

const fileOf = (path: string, content = "content") => new File([content], path, { lastModified: MODIFIED });
const add = (...paths: string[]) =>
  queue.add(
    FOLDER,
    paths.map((path) => ({ path, file: fileOf(path) })),
  );
/** Small files, and how many of them were asked for their size. */
function unmeasured(count: number) {
  const measured = new Set<string>();
  const wanted = Array.from({ length: count }, (_, number) => {
    const file = fileOf(`${number}`);
    const { size } = file;
    Object.defineProperty(file, "size", { get: () => measured.add(file.name) && size });
    return { path: file.name, file };
  });
  return { wanted, asked: () => measured.size };
}
const pack = (number: number) =>
  until(() => {
    expect(wire.packs.length).toBeGreaterThan(number);
    return wire.packs[number] as (typeof wire.packs)[number];
  });
const single = (path: string) =>
  until(() => {
    const found = wire.single.find((one) => one.path === path);
    expect(found).toBeDefined();
    return found as UploadOptions;
  });
const states = (wanted: Record<string, string>) =>
  until(() =>
    expect(Object.fromEntries(queue.read().map(({ path, state }) => [path, state]))).toEqual(wanted),
  );
const refusal = (path: string, code: string) => ({ path, code, message: code });
const failure = (status: number, code = `http.${status}`, details = {}) =>
  new Problem({ status, code, detail: code, details });
const keyOf = (path: string) => queue.read().find((one) => one.path === path)?.key ?? 0;
const batchOf = (path: string) => queue.read().find((one) => one.path === path)?.batch ?? 0;

describe("small files", () => {
  test("travel together, and each has an outcome of its own", async () => {
    add("a", "b", "c");
    (await pack(0)).answer({
      paths: ["a"],
      refused: [refusal("b", "file.exists"), refusal("c", "file.path")],
    });
    await states({ a: "done", b: "asking", c: "failed" });
    queue.answer(keyOf("b"), "replace", true);
    expect((await single("b")).clash).toBe("replace");
  });

  test.each([
    ["they have arrived", (answer: (outcome: Answer) => void) => answer({ paths: ["a", "b"] })],
    ["another user signs in", () => queue.begin("another")],
  ])("hold back the prefetching of code until %s", async (_, end) => {
    add("a", "b");
    const { answer } = await pack(0);
    const prefetched = vi.fn();
    void mayPrefetch().then(prefetched);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(prefetched).not.toHaveBeenCalled();
    end(answer);
    await until(() => expect(prefetched).toHaveBeenCalled());
  });

  test("travel in several requests when they are many, and beside large ones", async () => {
    const many = Array.from({ length: 450 }, (_, number) => `${number}`);
    queue.add(FOLDER, [
      { path: "large", file: fileOf("large", "x".repeat(300 * 1024)) },
      ...many.map((path) => ({ path, file: fileOf(path) })),
    ]);
    await single("large");
    (await pack(0)).answer({ paths: many.slice(0, 200) });
    (await pack(1)).answer({ paths: many.slice(200, 400) });
    (await pack(2)).answer({ paths: many.slice(400) });
    await until(() => expect(queue.read().filter(({ state }) => state === "done")).toHaveLength(450));
  });

  test("are renamed together once that was answered for all", async () => {
    add("a", "b", "c");
    const taken = ["a", "b", "c"].map((path) => refusal(path, "file.exists"));
    (await pack(0)).answer({ refused: taken });
    await states({ a: "asking", b: "asking", c: "asking" });
    queue.answer(keyOf("a"), "rename", true);
    const again = await pack(1);
    expect(again.clash).toBe("rename");
    again.answer({ paths: ["a (1)", "b (1)", "c (1)"] });
    await states({ a: "done", b: "done", c: "done" });
  });

  test("go one by one after a request that failed as a whole, and say each what is wrong", async () => {
    add("a", "b");
    (await pack(0)).answer({ problem: failure(413, "file.too_large") });
    (await single("a")).onProblem(failure(413, "upload.too_large"));
    (await single("b")).onDone();
    await states({ a: "failed", b: "done" });
  });

  test("travel without one that cannot be read, which goes by itself and says so", async () => {
    const gone = fileOf("gone");
    gone.slice = () =>
      ({ arrayBuffer: () => Promise.reject(new DOMException("", "NotReadableError")) }) as never;
    queue.add(FOLDER, [
      { path: "gone", file: gone },
      ...["a", "b"].map((path) => ({ path, file: fileOf(path) })),
    ]);
    (await pack(0)).answer({ problem: failure(0, "server.unreachable") });
    (await pack(1)).answer({ paths: ["a", "b"] });
    (await single("gone")).onProblem(failure(0, "server.unreachable"));
    await states({ gone: "failed", a: "done", b: "done" });
    expect(wire.single).toHaveLength(1);
  });

  test("of which nobody heard go together once more, and what had arrived is there", async () => {
    vi.useFakeTimers();
    add("a", "b");
    await vi.advanceTimersByTimeAsync(10);
    wire.packs[0]?.answer({ problem: failure(503) });
    await vi.advanceTimersByTimeAsync(2_500);
    expect(wire.packs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(wire.packs).toHaveLength(2);
    wire.there.set("a", { size_bytes: 7, modified_at: new Date(MODIFIED).toISOString() });
    wire.there.set("b", { size_bytes: 8, modified_at: new Date(MODIFIED).toISOString() });
    wire.packs[1]?.answer({ refused: ["a", "b"].map((path) => refusal(path, "file.exists")) });
    await states({ a: "done", b: "asking" });
    expect(wire.single).toHaveLength(0);
    vi.useRealTimers();
  });

  test("of which nobody heard twice go one by one", async () => {
    vi.useFakeTimers();
    add("a", "b");
    await vi.advanceTimersByTimeAsync(10);
    wire.packs[0]?.answer({ problem: failure(0, "server.unreachable") });
    await vi.advanceTimersByTimeAsync(4_000);
    wire.packs[1]?.answer({ problem: failure(503) });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(wire.packs).toHaveLength(2);
    wire.there.set("a", { size_bytes: 7, modified_at: new Date(MODIFIED).toISOString() });
    (await single("a")).onProblem(failure(409, "file.exists"));
    (await single("b")).onDone();
    await states({ a: "done", b: "done" });
    vi.useRealTimers();
  });

  test("are paused together, and go on", async () => {
    add("a", "b");
    const first = await pack(0);
    await states({ a: "sending", b: "sending" });
    queue.pause(batchOf("a"));
    await states({ a: "paused", b: "paused" });
    expect(first.signal.aborted).toBe(true);
    queue.resume(batchOf("a"));
    (await pack(1)).answer({ paths: ["a", "b"] });
    await states({ a: "done", b: "done" });
  });

  test("of thousands are on their way before the size of the last was asked for", async () => {
    const { wanted, asked } = unmeasured(2000);
    queue.add(FOLDER, wanted);
    expect(asked()).toBeLessThan(1000);
    for (let number = 0; number < 10; number += 1) {
      const { answer } = await pack(number);
      answer({ paths: wanted.slice(number * 200, (number + 1) * 200).map(({ path }) => path) });
    }
    await until(() => expect(queue.read().filter(({ state }) => state === "done")).toHaveLength(2000));
  });

  test("of thousands are paused and given up with those that are still to be looked at", async () => {
    const { wanted, asked } = unmeasured(2000);
    queue.add(FOLDER, wanted);
    await pack(0);
    const batch = await until(() => {
      expect(queue.read().length).toBeGreaterThan(0);
      return batchOf("0");
    });
    queue.pause(batch);
    await until(() => {
      expect(queue.read()).toHaveLength(2000);
      expect(queue.read().every(({ state }) => state === "paused")).toBe(true);
    });
    queue.cancel(batch);
    await states({});

    const before = asked();
    queue.add(FOLDER, wanted);
    queue.cancel(batch + 1 + 2000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked() - before).toBeLessThan(1000);
    await states({});
  });

  test("wait as long as the server says after too many requests", async () => {
    vi.useFakeTimers();
    add("a", "b");
    await vi.advanceTimersByTimeAsync(10);
    wire.packs[0]?.answer({ problem: failure(429, "rate.limited", { retry_after_s: 600 }) });
    await vi.advanceTimersByTimeAsync(599_000);
    expect(wire.packs).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(wire.packs).toHaveLength(2);
    vi.useRealTimers();
  });
});

test("a form names and dates its files before they follow in that order", async () => {
  const names = ["a", '한글/a\n"b%22', "d/c"];
  const form = packForm(names.map((path, number) => ({ path, file: fileOf("x", `${number}`) })));
  expect([...form.keys()]).toEqual(["files", "file", "file", "file"]);
  expect(JSON.parse(form.get("files") as string)).toEqual(
    names.map((path) => ({ path, modified: 1_700_000_000.25 })),
  );
  const contents = form.getAll("file").map((file) => (file as File).text());
  expect(await Promise.all(contents)).toEqual(["0", "1", "2"]);
});

test("a file is asked for its time first, with which a browser keeps the size that it looks up", () => {
  const asked: string[] = [];
  const file = fileOf("a");
  const { size, lastModified } = file;
  Object.defineProperty(file, "size", { get: () => asked.push("size") && size });
  Object.defineProperty(file, "lastModified", { get: () => asked.push("time") && lastModified });
  queue.add(FOLDER, [{ path: "a", file }]);
  expect(asked[0]).toBe("time");
});
