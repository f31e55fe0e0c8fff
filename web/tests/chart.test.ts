import { describe, expect, test } from "vitest";
import { measuredKinds, measuredSlots, shownPeriod } from "@/features/usage/measures";
import { distinct, rowsWithin, summary, timeLabels, valueTicks } from "@/ui/chart/series";

const at = (text: string) => new Date(text).getTime() / 1000;

describe("a chart", () => {
  test("has the mean and the peak of the shown period, and of peaks where there are any", () => {
    const times = [0, 60, 120, 180];
    expect(summary(times, { values: [100, 1, null, 3] }, [30, 200])).toEqual({ mean: 2, peak: 3 });
    expect(summary(times, { values: [1, 1, 1, 1], peaks: [9, 5, 2, 2] }, [30, 200])?.peak).toBe(5);
    expect(summary(times, { values: [1, 1, 1, 1] }, [300, 400])).toBeNull();
  });

  test("has round values at its axis: powers of two for bytes", () => {
    expect(valueTicks(4000, "decimal")).toEqual([0, 1000, 2000, 3000, 4000]);
    expect(valueTicks(262.5, "decimal")).toEqual([0, 100, 200]);
    expect(valueTicks(2 ** 30, "binary")).toEqual([0, 0.25, 0.5, 0.75, 1].map((part) => part * 2 ** 30));
    expect(valueTicks(3 * 2 ** 30, "binary").at(-1)).toBe(3 * 2 ** 30);
    expect(valueTicks(1.05, "whole")).toEqual([0, 1]);
    expect(valueTicks(0, "decimal")).toEqual([0]);
  });

  test("never repeats a label", () => {
    expect(distinct(["0", "0", "1", "1", "2"])).toEqual(["0", "", "1", "", "2"]);
  });

  test("writes the time of day, seconds where it needs them, and the date where a day begins", () => {
    const midnight = at("2026-03-02T00:00:00");
    expect(timeLabels([midnight - 3600, midnight, midnight + 3600], 3600, "en-GB")).toEqual([
      "23:00",
      "2 Mar",
      "01:00",
    ]);
    expect(timeLabels([midnight + 60, midnight + 90], 30, "en-GB")).toEqual(["00:01:00", "00:01:30"]);
    expect(timeLabels([midnight + 7200, midnight + 86_400], 86_400, "en-GB")).toEqual(["2 Mar", "3 Mar"]);
  });

  test("has a table of at most so many rows, the newest first, within the shown period", () => {
    expect(rowsWithin([1, 2, 3, 4, 5, 6], [2, 6], 3)).toEqual([5, 3, 1]);
  });
});

describe("a history", () => {
  const series = (value: number | null) => ({ mean: [value], peak: [value] });

  test("has a chart of each slot that was ever offered, allocated or used", () => {
    const measures = {
      "mem.used": series(1),
      "cuda.device.capacity": series(0),
      "cuda.shares.allocated": series(300),
      "cpu.capacity": series(4000),
      "sessions.live": series(1),
      "accelerator.used": series(3),
    };
    expect(measuredSlots(measures)).toEqual(["cpu", "mem", "cuda.shares"]);
  });

  test("has a line of each kind of accelerator that was measured", () => {
    const measures = {
      "rocm.device.percent": series(20),
      "cuda.device.percent": series(50),
      "accelerator.used": series(35),
    };
    expect(measuredKinds(measures)).toEqual(["cuda.device", "rocm.device"]);
    expect(measuredSlots(measures)).toEqual([]);
  });

  test("fills its charts with what has been recorded, at least an hour", () => {
    expect(shownPeriod([1000, 90_000], 86_400)).toEqual([3600, 90_000]);
    expect(shownPeriod([80_000, 90_000], 86_400)).toEqual([80_000, 90_000]);
    expect(shownPeriod([90_000], 86_400)).toEqual([86_400, 90_000]);
  });
});
