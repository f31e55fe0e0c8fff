import { expect, test } from "vitest";
import { parseDate } from "@/ui/form/parse-date";

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
