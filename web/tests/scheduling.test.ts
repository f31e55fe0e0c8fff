import { describe, expect, test } from "vitest";
import type { Share } from "@/api/types";
import { countStates } from "@/features/dashboard/count-states";
import { linesOf, withWeight } from "@/features/scheduler/shares";
import { usualGroup } from "@/features/scheduler/usual-group";
import { inSlotOrder, slotsWords } from "@/ui/slots";

function aShare(id: string, share: number, differences: Partial<Share> = {}): Share {
  return {
    id,
    name: id,
    kind: "domain",
    weight: 1,
    share,
    entitled: 0.5,
    level: share,
    held: {},
    waiting: 0,
    children: [],
    ...differences,
  };
}

describe("shares as lines", () => {
  const project = aShare("vision", 0.2, { kind: "project", waiting: 1 });
  const items = [
    aShare("physics", 0.1),
    aShare("maths", 0.2, { waiting: 2, children: [project] }),
    aShare("music", 0.5, { waiting: 1 }),
  ];
  const lines = linesOf({ items, scheduler: "fair_share" }, true);

  test("come place by place, each with what is below it", () => {
    expect(lines.map(({ path, depth }) => [path, depth])).toEqual([
      ["physics", 0],
      ["maths", 0],
      ["maths/vision", 1],
      ["music", 0],
    ]);
  });

  test("say how much of what all of a place have had is whose", () => {
    expect(lines.map(({ portion }) => Math.round((portion ?? 9) * 1000))).toEqual([125, 250, 1000, 625]);
    expect(linesOf({ items: [aShare("idle", 0)], scheduler: "fair_share" }, true)[0]?.portion).toBe(0);
  });

  test("do not make one domain the whole group for who sees no other", () => {
    const own = items.filter(({ id }) => id === "maths");
    const seen = linesOf({ items: own, scheduler: "fair_share" }, false);
    expect(seen.map(({ path, portion, next }) => [path, portion, next])).toEqual([
      ["maths", null, false],
      ["maths/vision", 1, true],
    ]);
  });

  test("call nobody next where fair shares do not decide", () => {
    expect(linesOf({ items, scheduler: "fifo" }, true).some(({ next }) => next)).toBe(false);
  });

  test("call next the first of each place of whom somebody waits", () => {
    expect(lines.filter(({ next }) => next).map(({ path }) => path)).toEqual(["maths", "maths/vision"]);
  });
});

describe("weights", () => {
  const user = { id: "u", email: "u@example.org", name: "U", weight: 3 };
  const weights = {
    domains: [{ id: "d", name: "physics", weight: 2 }],
    projects: [],
    users: [user],
  };

  test("are changed one at a time, and the others stay", () => {
    expect(withWeight(weights, { kind: "domain", id: "e" }, 4)).toEqual({
      domains: { d: 2, e: 4 },
      projects: {},
      users: { u: 3 },
    });
  });

  test("of 1 are what holds without any", () => {
    expect(withWeight(weights, { kind: "user", id: "u" }, 1).users).toEqual({});
  });
});

test("the default group is shown first where one may use it", () => {
  const groups = [
    { id: "a", name: "cpu" },
    { id: "default", name: "main" },
  ];
  expect(usualGroup(groups)).toBe("main");
  expect(usualGroup(groups.slice(0, 1))).toBe("cpu");
  expect(usualGroup(undefined)).toBe("default");
});

test("live sessions are counted by state, the most first", () => {
  const states = ["RUNNING", "PENDING", "RUNNING", "ERROR"] as const;
  expect(countStates(states.map((state) => ({ state })))).toEqual([
    ["RUNNING", 2],
    ["PENDING", 1],
  ]);
});

test("slots are said in one order, and only those of which there is something", () => {
  expect(inSlotOrder(["cuda.shares", "mem", "*", "cpu"])).toEqual(["cpu", "mem", "cuda.shares", "*"]);
  expect(slotsWords({ "cuda.shares": 300, mem: 2 ** 30, cpu: 1500, "rocm.device": 0 })).toEqual([
    "1.5 CPU",
    "1 GiB",
    "0.3 cuda.shares",
  ]);
});
