import { describe, expect, test } from "vitest";
import { rememberChange, withLaterChanges } from "@/cache/later-changes";
import { meetsFilter, patchPages, patchSession, removeSession, upsertSession } from "@/cache/patch";
import { arrayTotals, rowHasEnded, rowName, rowResult, rowState } from "@/features/sessions/arrays";
import { aSession, ids, LIVE, pagesOf } from "./sessions";

const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, "0")}:00:00Z`;

describe("a change to one session", () => {
  test("is patched into its row and leaves every other object as it was", () => {
    const before = pagesOf([[aSession("a"), aSession("b")], [aSession("c")]]);
    const after = patchPages(before, { id: "b", state: "TERMINATING", reason: "asked" });
    expect(after.pages[0]?.items[1]).toMatchObject({ state: "TERMINATING", reason: "asked", name: "name-b" });
    expect(after.pages[0]?.items[0]).toBe(before.pages[0]?.items[0]);
    expect(after.pages[1]).toBe(before.pages[1]);
  });

  test("that says nothing new gives back the very same pages, so that nothing is drawn again", () => {
    const before = pagesOf([[aSession("a", { progress: { phase: "pull", fraction: 0.5, text: "half" } })]]);
    const same = {
      id: "a",
      state: "RUNNING" as const,
      progress: { phase: "pull", fraction: 0.5, text: "half" },
    };
    expect(patchPages(before, same)).toBe(before);
    expect(patchPages(before, { id: "unknown", state: "ERROR" })).toBe(before);
  });

  test("keeps an ended session in a live list, where the person sees how it ended", () => {
    const after = patchPages(pagesOf([[aSession("a")]]), {
      id: "a",
      state: "ERROR",
      reason: "out of memory",
    });
    expect(after.pages[0]?.items[0]).toMatchObject({ state: "ERROR", reason: "out of memory" });
  });

  test("takes it out of the queue once it is no longer pending", () => {
    const waiting = aSession("a", { state: "PENDING", queue_position: 3 });
    expect(patchSession(waiting, { id: "a", state: "SCHEDULED" }).queue_position).toBeNull();
    expect(patchSession(waiting, { id: "a", reason: "no room" }).queue_position).toBe(3);
  });

  test("brings no field into a row that the row does not have", () => {
    const change = { id: "a", state: "ERROR" as const, env: { SECRET: "1" } };
    expect(patchSession(aSession("a"), change)).not.toHaveProperty("env");
  });
});

test("a filter by place and kind lists what the server would", () => {
  const session = aSession("a", { group: { id: "g", name: "lab" } });
  const place = { domain: "d", project: "p", group: "g" };
  expect(meetsFilter(session, { ...LIVE, ...place }, "me")).toBe(true);
  expect(meetsFilter(session, { ...LIVE, group: "lab", node: "node-1", kind: "interactive" }, "me")).toBe(
    true,
  );
  for (const other of [
    { domain: "other" },
    { project: "other" },
    { group: "default" },
    { node: "node-2" },
    { kind: "batch" as const },
  ]) {
    expect(meetsFilter(session, { ...LIVE, ...other }, "me")).toBe(false);
  }
});

describe("a session nobody knew", () => {
  const old = aSession("old", { created_at: at(1) });
  const middle = aSession("middle", { created_at: at(5) });

  test("goes where its age belongs, across pages", () => {
    const pages = pagesOf([[aSession("new", { created_at: at(9) })], [middle, old]]);
    expect(ids(upsertSession(pages, aSession("x", { created_at: at(10) })))).toEqual([
      ["x", "new"],
      ["middle", "old"],
    ]);
    expect(ids(upsertSession(pages, aSession("x", { created_at: at(3) })))).toEqual([
      ["new"],
      ["middle", "x", "old"],
    ]);
    expect(ids(upsertSession(pages, aSession("x", { created_at: at(0) })))).toEqual([
      ["new"],
      ["middle", "old", "x"],
    ]);
  });

  test("older than what is loaded is left to the next page, else it would be listed twice", () => {
    const pages = pagesOf([[middle, old]], true);
    expect(upsertSession(pages, aSession("x", { created_at: at(0) }))).toBe(pages);
  });

  test("is put into an empty list", () => {
    expect(ids(upsertSession(pagesOf([[]]), old))).toEqual([["old"]]);
  });

  test("is not listed twice when it comes twice", () => {
    const once = upsertSession(pagesOf([[middle]]), old);
    expect(ids(upsertSession(once, old))).toEqual([["middle", "old"]]);
  });

  test("can be taken away again", () => {
    const pages = pagesOf([[middle], [old]]);
    expect(ids(removeSession(pages, "old"))).toEqual([["middle"], []]);
    expect(removeSession(pages, "none")).toBe(pages);
  });
});

describe("a filter", () => {
  test("asks for live or ended sessions, for one state, for a text, and for one's own", () => {
    const failed = aSession("a", {
      state: "ERROR",
      image: "docker.io/library/Python:3.13",
      image_name: null,
    });
    expect(meetsFilter(aSession("a"), LIVE, "me")).toBe(true);
    expect(meetsFilter(failed, LIVE, "me")).toBe(false);
    expect(meetsFilter(failed, { ...LIVE, state: "ended" }, "me")).toBe(true);
    expect(meetsFilter(failed, { ...LIVE, state: "RUNNING" }, "me")).toBe(false);
    expect(meetsFilter(failed, { ...LIVE, state: "all", q: "PYTHON" }, "me")).toBe(true);
    expect(meetsFilter(failed, { ...LIVE, state: "all", q: "starter" }, "me")).toBe(false);
    expect(meetsFilter(aSession("a"), LIVE, "somebody")).toBe(false);
    expect(meetsFilter(aSession("a"), { ...LIVE, owner: "all" }, "somebody")).toBe(true);
  });
});

describe("an answer that was overtaken", () => {
  test("is corrected by what an event said after the question, not by what one said before", () => {
    rememberChange({ id: "raced", state: "RUNNING" }, 100);
    const read = aSession("raced", { state: "STARTING" });
    expect(withLaterChanges(read, 90).state).toBe("RUNNING");
    expect(withLaterChanges(read, 110).state).toBe("STARTING");
  });
});

describe("arrays", () => {
  const counts = [
    { state: "TERMINATED", result: "success", count: 2 },
    { state: "RUNNING", result: null, count: 1 },
  ] as const;
  const view = { id: "a", name: "train", first: 1, last: 3, max_parallel: 2, counts: [...counts] };
  const array = aSession("a", { array_id: "a", array_index: 1, state: "TERMINATED", array: view });
  const member = aSession("b", { array_id: "a", array_index: 2, state: "TERMINATED" });

  test("a list has one row for an array, which is live while one of its sessions is", () => {
    expect(meetsFilter(array, LIVE, "me")).toBe(true);
    expect(meetsFilter(array, { ...LIVE, state: "ended" }, "me")).toBe(false);
    expect(meetsFilter(array, { ...LIVE, state: "RUNNING" }, "me")).toBe(true);
    expect(meetsFilter(member, { ...LIVE, state: "all" }, "me")).toBe(false);
    expect([rowName(array), rowState(array), rowResult(array), rowHasEnded(array)]).toEqual([
      "train[1-3]",
      "RUNNING",
      null,
      false,
    ]);
  });

  test("an array stays in a search that another session of it matches by its index", () => {
    expect(meetsFilter(array, { ...LIVE, q: "train-2" }, "me")).toBe(true);
    expect(meetsFilter(array, { ...LIVE, q: "desk" }, "me")).toBe(false);
    expect(meetsFilter(aSession("c"), { ...LIVE, q: "train-2" }, "me")).toBe(false);
  });

  test("the list of an array has each of its sessions by its own state", () => {
    const of = { ...LIVE, array: "a" };
    expect(meetsFilter(member, { ...of, state: "ended" }, "me")).toBe(true);
    expect(meetsFilter(array, of, "me")).toBe(false);
    expect(meetsFilter(aSession("c"), { ...of, state: "all" }, "me")).toBe(false);
  });

  test("an array whose sessions have all ended has the worst of their results", () => {
    const ended = { ...array, array: { ...view, counts: [counts[0]] } };
    expect([rowResult(ended), rowHasEnded(ended)]).toEqual(["success", true]);
    expect(arrayTotals(view)).toMatchObject({ done: 2, running: 1, failed: 0 });
  });
});
