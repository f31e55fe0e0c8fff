import { describe, expect, test } from "vitest";
import { cronParts, repetitionOf, toCron, USUAL } from "@/features/schedules/cron";

describe("the form of a cron expression", () => {
  test.each(["15 * * * *", "30 6 * * *", "0 6 * * 1-5", "0 22 * * 0", "5 4 28 * *"])(
    "%s and back",
    (cron) => {
      const repetition = repetitionOf(cron);
      expect(repetition.every).not.toBe("custom");
      expect(toCron(repetition)).toBe(cron);
    },
  );

  test.each(["*/5 * * * *", "0 6,18 * * *", "0 6 * * 7", "0 6 1 1 *", ""])("%s is one of its own", (cron) => {
    expect(repetitionOf(cron)).toMatchObject({ every: "custom", expression: cron });
    expect(toCron(repetitionOf(cron))).toBe(cron);
  });

  test("begins with once a day", () => {
    expect(toCron(USUAL)).toBe("0 6 * * *");
  });
});

describe("the parts of a cron expression", () => {
  const any = { times: [], everyMinutes: null, everyHours: null, days: [], weekdays: [], months: [] };

  test.each([
    ["* * * * *", { ...any, everyMinutes: 1 }],
    ["*/5 * * * *", { ...any, everyMinutes: 5 }],
    ["30 * * * *", { ...any, everyHours: { hours: 1, minute: 30 } }],
    ["0 */6 * * *", { ...any, everyHours: { hours: 6, minute: 0 } }],
    ["0,30 6,18 * * *", { ...any, times: ["06:00", "06:30", "18:00", "18:30"] }],
    ["0 6 1,15 * *", { ...any, times: ["06:00"], days: [1, 15] }],
    ["0 6 * jan-mar,12 *", { ...any, times: ["06:00"], months: [1, 2, 3, 12] }],
    ["0 6 * * MON-WED,7", { ...any, times: ["06:00"], weekdays: [0, 1, 2, 3] }],
  ])("%s", (cron, parts) => {
    expect(cronParts(cron)).toEqual(parts);
  });

  test.each([
    "",
    "0 6 * *",
    "0 6 * * * *",
    "0 25 * * *",
    "60 6 * * *",
    "0 6 L * *",
    "0 6 * * 1#2",
    "0 6 5-1 * *",
  ])("%s is not put into words", (cron) => {
    expect(cronParts(cron)).toBeNull();
  });
});
