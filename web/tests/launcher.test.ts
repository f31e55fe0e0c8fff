import { describe, expect, test } from "vitest";
import { fitOf, lastStopWithin, nearestStop, stopsOf } from "@/features/sessions/launcher/amounts";
import { createCommand } from "@/features/sessions/launcher/command";
import {
  formLike,
  freshForm,
  isName,
  requestLike,
  sameSlots,
  startable,
  toCheck,
  toRequest,
  withSlot,
} from "@/features/sessions/launcher/request";
import { environmentRow, variableFault } from "@/features/sessions/launcher/variables";
import { shellQuote } from "@/ui/command";
import { aDetail } from "./sessions";

const GIB = 2 ** 30;

describe("the command line", () => {
  test("leaves plain words as they are and quotes what a shell would change", () => {
    expect(shellQuote("docker.io/library/python:3.13-slim@sha256:ab")).toBe(
      "docker.io/library/python:3.13-slim@sha256:ab",
    );
    expect(shellQuote("A=b")).toBe("A=b");
    expect(shellQuote("")).toBe("''");
    expect(shellQuote("two words")).toBe("'two words'");
    expect(shellQuote('$HOME `id` "x" \\')).toBe("'$HOME `id` \"x\" \\'");
    expect(shellQuote("it's")).toBe(String.raw`'it'\''s'`);
    expect(shellQuote("a\nb")).toBe("'a\nb'");
    expect(shellQuote("~")).toBe("'~'");
    expect(shellQuote("=ls")).toBe("'=ls'");
    expect(shellQuote("한글")).toBe("'한글'");
  });

  test("asks for the same session as the form", () => {
    const line = createCommand({
      image: "starter",
      name: "first_one",
      slots: { cpu: 500, mem: 1.5 * GIB },
      env: { LR: "0.01", NOTE: "it's new" },
      project: "vision lab",
    });
    expect(line).toBe(
      String.raw`carrel session create --image starter --cpu 0.5 --mem 1536m --name first_one --env LR=0.01 --env 'NOTE=it'\''s new' --project 'vision lab'`,
    );
  });

  test("names accelerators, and where and how soon", () => {
    const line = createCommand({
      image: "starter",
      slots: { cpu: 1000, mem: GIB, "cuda.shares": 300, "rocm.device": 2 },
      group: "gpu",
      priority: 70,
      time_limit_s: 5400,
      node: "node-1",
      disk_bytes: 20 * GIB,
    });
    expect(line).toBe(
      "carrel session create --image starter --cpu 1 --mem 1g --slot cuda.shares=0.3 --slot rocm.device=2 " +
        "--group gpu --priority 70 --time-limit 90m --node node-1 --disk 20g",
    );
  });

  test("leaves out what the form leaves out", () => {
    expect(createCommand({ image: "tiny", slots: { cpu: 2000, mem: GIB } })).toBe(
      "carrel session create --image tiny --cpu 2 --mem 1g",
    );
  });
});

describe("the form", () => {
  test.each(["abcd", "_a.b-c_", "a".repeat(64)])("takes the name %s", (name) =>
    expect(isName(name)).toBe(true),
  );
  test.each(["abc", "-abc", "abc.", "a b c", "a".repeat(65), "한글이름", "abcd\n"])(
    "refuses the name %j",
    (name) => expect(isName(name)).toBe(false),
  );

  test("refuses variables that are malformed or repeated, and overlooks empty rows", () => {
    const rows = ["PATH_1", "1X", "A-B", "PATH_1", ""].map((name) => environmentRow(name, name && "v"));
    expect(rows.map((_, index) => variableFault(rows, index))).toEqual([
      null,
      "malformed",
      "malformed",
      "repeated",
      null,
    ]);
    expect(variableFault([environmentRow("", "orphan")], 0)).toBe("malformed");
  });

  test("sends no name, variables or project that were not given", () => {
    const form = { ...freshForm(" starter "), env: [environmentRow()] };
    expect(toRequest(form)).toEqual({ image: "starter", slots: { cpu: 1000, mem: GIB } });
  });

  test("asks the scheduler for what it sends, without a name and variables", () => {
    const form = {
      ...freshForm("starter"),
      name: "first_one",
      description: "the first",
      project: "p",
      group: "gpu",
      slots: { cpu: 1000, mem: GIB, "cuda.shares": 300, "rocm.device": 0 },
      priority: 0,
      time_limit_s: 5400,
      node: "node-1",
      env: [environmentRow("LR", "1")],
      mounts: [],
    };
    const wish = {
      image: "starter",
      group: "gpu",
      slots: { cpu: 1000, mem: GIB, "cuda.shares": 300 },
      priority: 0,
      time_limit_s: 5400,
      node: "node-1",
      project: "p",
    };
    expect(toCheck(form)).toEqual(wish);
    expect(toRequest(form)).toEqual({
      ...wish,
      name: "first_one",
      description: "the first",
      env: { LR: "1" },
    });
  });

  test("like another session takes everything but the name", () => {
    const slots = { cpu: 1000, mem: GIB, "cuda.device": 1 };
    const group = { id: "g", name: "gpu" };
    const description = "the third try";
    const form = formLike(
      aDetail("a", {
        slots,
        group,
        priority: 70,
        time_limit_s: 7200,
        description,
        env: { LR: "1" },
        bootstrap: "make",
        shm_bytes: GIB,
        disk_bytes: 20 * GIB,
        workdir: "src",
        rights: "root",
      }),
    );
    expect(toCheck(form).rights).toBe("root");
    expect(toCheck(form).disk_bytes).toBe(20 * GIB);
    expect(createCommand(toRequest(form))).toContain(" --root");
    expect(createCommand(toRequest({ ...form, rights: "plain" }))).not.toContain("root");
    expect(toRequest(form)).toEqual({
      rights: "root",
      image: "starter",
      slots,
      group: "gpu",
      priority: 70,
      time_limit_s: 7200,
      description,
      env: { LR: "1" },
      project: "default",
      bootstrap: "make",
      shm_bytes: GIB,
      disk_bytes: 20 * GIB,
      workdir: "src",
    });
    expect(createCommand(toRequest(form))).toMatch(
      /^printf %s make \| carrel session create .*--bootstrap - --shm 1g --disk 20g --workdir src/,
    );
  });

  test("takes over the groups that another session accepts, in order", () => {
    const [preferred, other] = [
      { id: "default", name: "default" },
      { id: "c", name: "cloud" },
    ];
    // It was placed in the other one.
    const form = formLike(aDetail("a", { group: other, accepted_groups: [preferred, other] }));
    expect(toRequest(form)).toMatchObject({ group: "default", alternative_groups: ["cloud"] });
    expect(toCheck(form).alternative_groups).toEqual(["cloud"]);
    expect(createCommand(toRequest(form))).toMatch(/--group default .*--group cloud/);
    expect(toRequest(formLike(aDetail("a")))).not.toHaveProperty("alternative_groups");
  });

  test("takes over no script that only its owner may see", () => {
    expect(requestLike(aDetail("a", { bootstrap: "********" })).bootstrap).toBeUndefined();
  });

  const CUDA = [
    { name: "cuda.device", family: "cuda" },
    { name: "cuda.shares", family: "cuda" },
    { name: "cuda.mig-1g.18gb", family: "cuda.mig-1g.18gb" },
  ];

  test("takes units of another family beside them", () => {
    expect(withSlot({ "cuda.device": 2 }, "cuda.mig-1g.18gb", 1, CUDA)).toEqual({
      "cuda.device": 2,
      "cuda.mig-1g.18gb": 1,
    });
  });

  test("names on the command line what a session like another mounts, if it is still there", () => {
    const mount = {
      folder_id: "f1",
      folder_name: "data",
      path: "/data",
      subpath: "",
      read_only: true,
      automatic: false,
    };
    const session = aDetail("a", {
      time_limit_s: 7200,
      mounts: [mount, { ...mount, folder_id: null }, { ...mount, automatic: true }],
    });
    expect(requestLike(session).mounts).toEqual([{ folder: "f1", path: "/data", read_only: true }]);
    expect(createCommand(requestLike(session), () => "data")).toContain("--time-limit 2h --project");
    expect(createCommand(requestLike(session), () => "data")).toMatch(/--mount data:\/data:ro$/);
  });

  test("takes whole devices or parts of one kind, never both", () => {
    const slots = withSlot({ cpu: 1, "cuda.device": 2, "rocm.device": 1 }, "cuda.shares", 300, CUDA);
    expect(slots).toEqual({ cpu: 1, "rocm.device": 1, "cuda.shares": 300 });
    expect(withSlot({ "cuda.device": 2 }, "cuda.shares", 0, CUDA)).toEqual({
      "cuda.device": 2,
      "cuda.shares": 0,
    });
  });

  test("knows the preset that it asks for", () => {
    expect(sameSlots({ cpu: 1, mem: 2, "cuda.device": 0 }, { cpu: 1, mem: 2 })).toBe(true);
    expect(sameSlots({ cpu: 1, mem: 2, "cuda.device": 1 }, { cpu: 1, mem: 2 })).toBe(false);
  });
});

describe("amounts", () => {
  test.each([100, 250, 2000, 3500, 8000, 96_000])(
    "the CPU slider ends with the %d millicores there are",
    (most) => {
      const stops = stopsOf("cpu", most);
      expect(stops.at(-1)).toBe(most);
      expect(stops).toEqual([...new Set(stops)].sort((a, b) => a - b));
    },
  );

  test("the memory slider is finer at the low end and stays short for a large machine", () => {
    const stops = stopsOf("mem", 1024 * GIB);
    expect(stops[0]).toBe(GIB / 4);
    expect(stops.at(-1)).toBe(1024 * GIB);
    expect(stops.length).toBeLessThan(90);
  });

  test("devices are whole, and parts of one are tenths; none is always possible", () => {
    expect(stopsOf("cuda.device", 3)).toEqual([0, 1, 2, 3]);
    const shares = { type: "shares" as const, quantum: 1, allowed: [] };
    expect(stopsOf("cuda.shares", 400, shares)).toEqual([0, 100, 200, 300, 400]);
    expect(stopsOf("cuda.shares", 650, { ...shares, quantum: 150 })).toEqual([0, 150, 300, 450, 600]);
    expect(stopsOf("a.device", 6, { type: "count", quantum: 1, allowed: [1, 2, 4, 8] })).toEqual([
      0, 1, 2, 4,
    ]);
    expect(stopsOf("a.unit", 6, { type: "unique", quantum: 1, allowed: [] })).toEqual([0, 1]);
    expect(stopsOf("cuda.device", 0)).toEqual([0]);
  });

  test("an amount between two stops is shown at the nearer, and a limit at the last within it", () => {
    expect(nearestStop([1000, 2000, 4000], 2900)).toBe(1);
    expect(nearestStop([1000, 2000, 4000], 3100)).toBe(2);
    expect(lastStopWithin([1000, 2000, 4000], 3900)).toBe(1);
    expect(lastStopWithin([1000, 2000, 4000], 0)).toBe(0);
  });

  test("more than fits now waits; more than there ever is can never be", () => {
    const room = { now: 4000, most: 8000, by: "the largest node" };
    expect(fitOf(4000, room)).toBe("starts");
    expect(fitOf(4001, room)).toBe("waits");
    expect(fitOf(8000, room)).toBe("waits");
    expect(fitOf(8001, room)).toBe("never");
  });
});

test("a fresh form asks for no more than can ever start, if anything can", () => {
  const room = (most: number) => ({ now: 0, most, by: "a limit" });
  const fresh = { cpu: 1000, mem: 2 ** 30 };
  expect(startable(fresh, { cpu: room(500), mem: room(2 ** 34) })).toEqual({ cpu: 500, mem: 2 ** 30 });
  expect(startable(fresh, { cpu: room(0) })).toEqual(fresh);
});
