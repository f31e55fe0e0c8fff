import { describe, expect, test } from "vitest";
import {
  changedLimits,
  draftOf,
  isAbout,
  isDraftComplete,
  limitsIn,
  limitWords,
  slotLimitsOf,
  slotsDraft,
  UNLIMITED,
} from "@/features/policies/limits";
import {
  groupLoads,
  hostShares,
  kindsOf,
  limitLoads,
  loadOf,
  loadsOf,
  shade,
  share,
} from "@/features/resources/load";
import { changedLabels, labelsOf, labelTexts, labelWords } from "@/features/resources/node-labels";
import { weightWords } from "@/features/resources/weights";
import { inSlotOrder, slotText, slotWord } from "@/ui/slots";

describe("amounts of slots", () => {
  test("are written in what people count", () => {
    expect(slotText("cpu", 1500)).toBe("1.5 CPU");
    expect(slotText("cuda.shares", 300)).toBe("0.3 cuda.shares");
    expect(slotText("cuda.device", 2)).toBe("2 cuda.device");
    expect(slotWord("mem", 4 * 2 ** 30)).toBe("mem=4g");
    expect(slotWord("cuda.shares", 300)).toBe("cuda.shares=0.3");
  });

  test("stand with CPU and memory first, and all others last", () => {
    expect(inSlotOrder(["*", "rocm.device", "mem", "cuda.device", "cpu"])).toEqual([
      "cpu",
      "mem",
      "cuda.device",
      "rocm.device",
      "*",
    ]);
  });
});

test("the server's no is of the limit that it names, and of no other that sounds like it", () => {
  expect(isAbout("limits.sessions", "sessions")).toBe(true);
  expect(isAbout("limits.pending_sessions", "sessions")).toBe(false);
  expect(isAbout(null, "sessions")).toBe(false);
});

test("a group holds whole devices and parts of them together, since they are the same devices", () => {
  const capacity = { cpu: 4000, mem: 100, "cuda.device": 4, "cuda.shares": 4000, "npu.device": 8 };
  const loads = groupLoads({
    capacity,
    used: { cpu: 500, "cuda.device": 1, "cuda.shares": 500, "npu.device": 2 },
  });
  expect(loads.map(({ name, slot, used, offered }) => [name, slot, used, offered])).toEqual([
    ["cpu", "cpu", 500, 4000],
    ["mem", "mem", 0, 100],
    ["npu.device", "npu.device", 2, 8],
    ["cuda", "cuda.shares", 1500, 4000],
  ]);
});

test("the usage of a tenant lists CPU, memory, and what else is limited or allocated", () => {
  const loads = limitLoads({ cpu: 500, "cuda.shares": 300 }, { mem: 1024, "rocm.device": 2, "tt.device": 0 });
  expect(loads.map(({ name, used, offered }) => [name, used, offered])).toEqual([
    ["cpu", 500, null],
    ["mem", 0, 1024],
    ["cuda.shares", 300, null],
    ["rocm.device", 0, 2],
  ]);
  expect(limitLoads({}, { "*": 0, cpu: null }).map(({ offered }) => offered)).toEqual([null, 0]);
});

describe("the load of a node", () => {
  const slots = { "cuda.device": 1000, "cuda.shares": 1 };
  const metrics = {
    utilization_percent: null,
    mem_used_bytes: null,
    mem_total_bytes: null,
    temperature_c: null,
    power_w: null,
    uncorrected_errors: null,
    measured_at: null,
  };
  const condition = { healthy: true, problem: "", metrics };
  const unknown = { pci: "", numa: null, clique: "", switch: "", mem_bytes: null, holders: [] };
  const device = (id: string, used: number) => ({
    ...{ id, family: "cuda", model: "", set: 0, used, slots },
    ...unknown,
    ...condition,
  });
  const node = {
    offered: { cpu: 4000, mem: 100, "cuda.device": 2, "cuda.shares": 2000 },
    used: { cpu: 1000, "cuda.device": 1, "cuda.shares": 500 },
    devices: [device("0", 1000), device("1", 500)],
  };

  test("counts whole devices and parts of them together", () => {
    expect(loadsOf(node)).toEqual([
      { name: "cpu", slot: "cpu", used: 1000, offered: 4000 },
      { name: "mem", slot: "mem", used: 0, offered: 100 },
      { name: "cuda", slot: "cuda.shares", used: 1500, offered: 2000 },
    ]);
    expect(loadOf(node, "cuda")).toBe(0.75);
    expect(kindsOf([node])).toEqual(["cpu", "mem", "cuda"]);
  });

  test("counts units that nothing can be cut from", () => {
    const unit = { id: "unit0", family: "cuda.mig-1g.18gb", model: "", set: 0, used: 1000 };
    const cut = { ...unit, ...unknown, ...condition, slots: { "cuda.mig-1g.18gb": 1000 } };
    const held = loadsOf({
      offered: { "cuda.mig-1g.18gb": 2 },
      used: {},
      devices: [cut, { ...cut, id: "unit1", used: 0 }],
    });
    expect(held).toEqual([{ name: "cuda.mig-1g.18gb", slot: "cuda.mig-1g.18gb", used: 1, offered: 2 }]);
  });

  test("is that of what is the scarcest where nothing is named", () => {
    expect(loadOf(node, undefined)).toBe(0.75);
    expect(loadOf({ offered: {}, used: {}, devices: [] }, undefined)).toBe(0);
  });

  test("is full where something is held of what is not offered any more", () => {
    expect(share(5, 0)).toBe(1);
    expect(share(0, 0)).toBe(0);
    expect([0, 0.01, 0.4, 0.7, 0.9, 1.5].map(shade)).toEqual([0, 1, 2, 3, 4, 4]);
  });
});

describe("the limits of a policy", () => {
  const limits = {
    slots: { cpu: 8000, "cuda.device": UNLIMITED },
    sessions: 3,
    folders: UNLIMITED,
    folder_bytes: 2 ** 40,
    environment_bytes: UNLIMITED,
  } as const;

  test("come back from the form as they went in", () => {
    expect(limitsIn(draftOf("user", limits))).toEqual({ ...limits, slots: { ...limits.slots, mem: 0 } });
    expect(slotLimitsOf(slotsDraft({ "*": UNLIMITED }))).toEqual({ "*": UNLIMITED });
    expect(slotLimitsOf(slotsDraft({ mem: UNLIMITED, "*": 0 }))).toEqual({ cpu: 0, mem: UNLIMITED, "*": 0 });
  });

  test("allow root to projects unless they restrict it, and to keypairs only if they say so", () => {
    expect(draftOf("project", undefined).max_rights).toBe("root");
    expect(draftOf("keypair", undefined).max_rights).toBe("plain");
    expect(
      limitsIn(draftOf("project", { folders: 1, folder_bytes: 1, max_rights: "plain" })).max_rights,
    ).toBe("plain");
  });

  test("are sent only where they are other than before", () => {
    const first = draftOf("user", limits);
    expect(changedLimits(first, draftOf("user", limits))).toEqual({});
    expect(changedLimits(first, { ...first, sessions: 4 })).toEqual({ sessions: 4 });
  });

  test("cannot be sent while a row has no slot, or a slot two rows", () => {
    const draft = (slots: string[]) => ({
      slots: { rows: slots.map((slot) => ({ slot, amount: 1 })), others: null },
    });
    expect(isDraftComplete(draft(["cpu", "mem"]))).toBe(true);
    expect(isDraftComplete(draft(["cpu", ""]))).toBe(false);
    expect(isDraftComplete(draft(["cpu", "cpu"]))).toBe(false);
    expect(isDraftComplete({ idle_use: { window_s: 60, grace_s: 0, below: {} } })).toBe(false);
  });

  test("are the options of the command line", () => {
    const idle = {
      idle_timeout_s: 3600,
      idle_use: { window_s: 5400, grace_s: 600, below: { cpu: 5, accelerator: 10 } },
    };
    expect(
      limitWords({ ...limits, lifetime_s: 43_200, max_priority: 60, max_rights: "root", ...idle }),
    ).toEqual(
      [
        "--slot cpu=8 --slot cuda.device=unlimited --sessions 3 --folders unlimited --folder-size 1t --environment-size unlimited",
        "--lifetime 12h --max-priority 60 --max-rights root --idle-timeout 1h",
        "--idle-use cpu=5,accelerator=10,window=90m,grace=10m",
      ].flatMap((line) => line.split(" ")),
    );
  });
});

test("weights on the command line are what is other than before", () => {
  const ada = { kind: "users", id: "u1", label: "ada@example.org", weight: 2 } as const;
  const vision = { kind: "projects", id: "p1", label: "vision (physics)", weight: 3 } as const;
  expect(weightWords([ada], [{ ...ada, weight: 4 }, vision])).toEqual([
    "--set",
    "user=ada@example.org:4",
    "--set",
    "project=p1:3",
  ]);
  expect(weightWords([ada, vision], [ada])).toEqual(["--unset", "project=p1"]);
});

test("a machine is as busy as all that runs on it, of its whole capacity and not of what sessions may have", () => {
  const host = {
    cpu: 3000,
    mem: 6,
    at: "",
    received: 0,
    sent: 0,
    read: 0,
    written: 0,
    disk_used: 1,
    disk_size: 2,
  };
  expect(hostShares({ host, slots: { cpu: 4000, mem: 8 } })).toEqual({ cpu: 0.75, mem: 0.75 });
  expect(hostShares({ host: null, slots: { cpu: 4000 } })).toBeNull();
});

test("labels of a node are written as in a selector, and only changes are sent", () => {
  const before = { rack: "r1", gpu: "a100", ssd: "" };
  expect(labelTexts(before)).toEqual(["gpu=a100", "rack=r1", "ssd"]);
  const changed = changedLabels(before, labelsOf(["gpu=h100", "ssd", "row = 2"]));
  expect(changed).toEqual({ gpu: "h100", row: "2", rack: null });
  expect(labelWords(changed)).toEqual(["gpu=h100", "row=2", "rack-"]);
});
