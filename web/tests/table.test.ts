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

test("an open row is followed by what it shows, with and without headings", () => {
  const isOpen = (row: string) => row === "a1";
  const flat = withHeadings(rows, undefined, "en", isOpen);
  expect(flat.entries[2]).toEqual({ below: "a1" });
  expect(flat.ordered).toEqual(rows);
  expect(rows.map((_, index) => flat.entryOf(index))).toEqual([0, 1, 3, 4, 5]);
  const grouped = withHeadings(rows, (row) => row.slice(0, 1), "en", isOpen);
  expect(grouped.entries.slice(0, 4)).toEqual([
    { heading: "a", count: 3 },
    { row: "a1", index: 0 },
    { below: "a1" },
    { row: "a10", index: 1 },
  ]);
});

test("without headings, every row is its own entry", () => {
  const { entries, ordered, entryOf } = withHeadings(rows, undefined, "en");
  expect(ordered).toBe(rows);
  expect(entries.map((_, index) => entryOf(index))).toEqual([0, 1, 2, 3, 4]);
});
