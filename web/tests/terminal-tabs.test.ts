import { expect, test } from "vitest";
import { closed, ONE_TAB, opened, selected, split, stepped } from "@/features/terminal/tabs";

const three = opened(opened(ONE_TAB));

test("a new shell takes the place of the active one, which stays open", () => {
  expect(three).toEqual({ open: [1, 2, 3], shown: [3], active: 3 });
});

test("a closed shell gives its place to the next one, and the last stays", () => {
  expect(closed(selected(three, 2))).toEqual({ open: [1, 3], shown: [3], active: 3 });
  expect(closed(three)).toEqual({ open: [1, 2], shown: [2], active: 2 });
  expect(closed(ONE_TAB)).toBe(ONE_TAB);
});

test("two are shown side by side, and a third takes the place of the active one", () => {
  const two = split(ONE_TAB);
  expect(two).toEqual({ open: [1, 2], shown: [1, 2], active: 2 });
  expect(split(three).shown).toEqual([1, 3]);
  expect(opened(two)).toEqual({ open: [1, 2, 3], shown: [1, 3], active: 3 });
  expect(selected(two, 1)).toEqual({ open: [1, 2], shown: [1, 2], active: 1 });
  expect(closed(two)).toEqual({ open: [1], shown: [1], active: 1 });
  expect(split(two)).toEqual({ open: [1, 2], shown: [2], active: 2 });
});

test("the tabs are gone through in a circle", () => {
  expect(stepped(three, 1).active).toBe(1);
  expect(stepped(selected(three, 1), -1).active).toBe(3);
});
