import { expect, test } from "vitest";
import { withHeadings } from "@/ui/table/headings";

const rows = ["b1", "a1", "b2", "a10", "a2"];

test("rows stand under their headings, in the order they had", () => {
  const { entries, ordered, entryOf } = withHeadings(rows, (row) => row.slice(0, 1), "en");
  expect(ordered).toEqual(["a1", "a10", "a2", "b1", "b2"]);
  expect(entries.filter((entry) => "heading" in entry)).toEqual([
    { heading: "a", count: 3 },
    { heading: "b", count: 2 },
  ]);
  for (const [index, row] of ordered.entries()) expect(entries[entryOf(index)]).toEqual({ row, index });
});

test("without headings, every row is its own entry", () => {
  const { entries, ordered, entryOf } = withHeadings(rows, undefined, "en");
  expect(ordered).toBe(rows);
  expect(entries.map((_, index) => entryOf(index))).toEqual([0, 1, 2, 3, 4]);
});
