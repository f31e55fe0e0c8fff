import { expect, test } from "vitest";
import { isDateWithin, parseDate, within } from "@/ui/form/parse-date";

test.each([
  ["2026-11-24", "2026-11-24"],
  [" 2026/1/5 ", "2026-01-05"],
  ["2026. 11. 24.", "2026-11-24"],
  ["2026年11月24日", "2026-11-24"],
  ["2028-02-29", "2028-02-29"],
])("a typed date is understood in the ways of its language: %s", (text, date) => {
  expect(parseDate(text)).toBe(date);
});

test.each(["", "2", "2026", "2026-11", "11/24/2026", "2026-13-01", "2026-02-30"])(
  "an incomplete or impossible date is none: %s",
  (text) => {
    expect(parseDate(text)).toBeNull();
  },
);

test("a date is allowed from the first to the last date, and without bounds", () => {
  expect(
    ["2026-01-01", "2026-01-31", "2026-02-01"].map((date) => isDateWithin(date, "2026-01-01", "2026-01-31")),
  ).toEqual([true, true, false]);
  expect(isDateWithin("1999-12-31", "", "")).toBe(true);
});

test("a calendar starts at the allowed date nearest to today", () => {
  expect(within("2026-11-24", "", "2020-01-31")).toBe("2020-01-31");
  expect(within("2026-11-24", "2027-01-01", "")).toBe("2027-01-01");
  expect(within("2026-11-24", "", "")).toBe("2026-11-24");
});
