import { expect, test } from "vitest";
import type { Device } from "@/api/types";
import { colourOf, coloursOf, countsOf, deviceSets } from "@/features/resources/devices";

const device = (id: string, more: Partial<Device> = {}): Device => ({
  ...{
    id,
    family: "cuda",
    model: "H100",
    set: 0,
    pci: "",
    numa: 0,
    switch: "",
    clique: "",
    mem_bytes: null,
    used: 0,
  },
  ...{ slots: { "cuda.device": 1000 }, holders: [], healthy: true, problem: "" },
  metrics: {
    ...{ utilization_percent: null, mem_used_bytes: null, mem_total_bytes: null, temperature_c: null },
    ...{ power_w: null, uncorrected_errors: null, measured_at: null },
  },
  ...more,
});

const held = (id: string, amount: number) => ({
  amount,
  session: { id, name: id, owner: { id: "u", email: "u@example.org" }, container: "c" },
});

test("devices that are near each other are together, and those of different families are not", () => {
  const sets = deviceSets([
    device("c", { set: 1, numa: 1 }),
    device("a", { clique: "nvlink" }),
    device("b", { clique: "nvlink", numa: 1 }),
    device("d", { family: "rocm" }),
  ]);
  expect(
    sets.map(({ number, connected, numa, devices }) => [number, connected, numa, devices.length]),
  ).toEqual([
    [0, true, null, 2],
    [1, false, 1, 1],
    [0, false, 0, 1],
  ]);
});

test("a session has one colour on all devices, and sessions of others have their own", () => {
  const devices = [
    device("a", { holders: [held("s1", 500), { amount: 300, session: null }] }),
    device("b", { holders: [held("s2", 500), held("s1", 500)] }),
  ];
  const colours = coloursOf(devices);
  expect(devices.map(({ holders }) => holders.map((holder) => colourOf(holder, colours)))).toEqual([
    [0, "others"],
    [1, 0],
  ]);
});

test("devices are counted as free, and as allocated in part", () => {
  expect(countsOf([{ used: 0 }, { used: 300 }, { used: 1000 }])).toEqual({ free: 1, broken: 1, used: 1300 });
});
