import { describe, expect, test } from "vitest";
import { leftUntil } from "@/features/idle/left";
import { SESSION_FIELDS } from "@/features/sessions/columns";
import { parseLine } from "@/features/sessions/detail/ansi";
import { sessionsSearch, signInSearch } from "@/routing/search";
import {
  cliSize,
  formatCores,
  formatDuration,
  formatSize,
  formatWhole,
  readSize,
  sizeWord,
} from "@/ui/format";
import { toCsv } from "@/ui/table/csv";
import { aSession } from "./sessions";

const [KIB, MIB, GIB] = [2 ** 10, 2 ** 20, 2 ** 30];

describe("amounts in words", () => {
  test.each([
    [4320 * 60, "en", "3 days"],
    [36 * 3600, "en", "36 hours"],
    [20 * 60, "ko", "20분"],
    [90, "en", "90 seconds"],
    [0, "en", "0 seconds"],
  ])("%d whole seconds in %s", (seconds, locale, text) => expect(formatWhole(seconds, locale)).toBe(text));

  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [GIB, "1 GiB"],
    [1.5 * GIB, "1.5 GiB"],
    [512 * MIB, "512 MiB"],
    [2 ** 60, "1024 PiB"],
  ])("%d bytes", (bytes, text) => expect(formatSize(bytes)).toBe(text));

  test.each([
    [0, "0 B"],
    [64 * 2 ** 20, "64 MiB"],
    [1.25 * 2 ** 30, "1.25 GiB"],
    [1.125 * 2 ** 30, "1152 MiB"],
    [17_577_123_840, "16.37 GiB"],
    [100 * 2 ** 30, "100 GiB"],
    [2 ** 41, "2 TiB"],
  ])("%d bytes in a field", (bytes, text) => expect(sizeWord(bytes)).toBe(text));

  test.each([
    ["64", "MiB", 2 ** 26],
    ["64 M", "GiB", 2 ** 26],
    ["512m", "GiB", 2 ** 29],
    [" 1,5 gib ", "MiB", 1.5 * 2 ** 30],
    ["0.25", "GiB", 2 ** 28],
    ["7 B", "GiB", 7],
    ["", "GiB", 0],
    ["64 x", "GiB", null],
    ["-1", "GiB", null],
  ])("%s typed where the unit is %s", (text, unit, bytes) => expect(readSize(text, unit)).toBe(bytes));

  test.each([
    [1000, "1"],
    [1500, "1.5"],
    [250, "0.25"],
    [33, "0.033"],
  ])("%d millicores", (millis, text) => expect(formatCores(millis)).toBe(text));

  test.each([
    [GIB, "1g"],
    [1.5 * GIB, "1536m"],
    [MIB + KIB, "1025k"],
    [1025, "1025"],
    [2 ** 41, "2t"],
  ])("%d bytes on the command line, exactly", (bytes, text) => expect(cliSize(bytes)).toBe(text));

  test.each([
    [-5, "0s"],
    [59_999, "59s"],
    [250_000, "4m 10s"],
    [11_100_000, "3h 05m"],
    [187_200_000, "2d 04h"],
  ])("%d ms", (milliseconds, text) => expect(formatDuration(milliseconds, "en")).toBe(text));

  test("a duration speaks the page's language", () => {
    expect(formatDuration(250_000, "ko")).toBe("4분 10초");
    expect(formatDuration(11_100_000, "ja")).toBe("3時間05分");
  });
});

describe("a line of a log", () => {
  const ESC = "\u001b";
  test("keeps its colours and loses every other control sequence", () => {
    expect(parseLine(`${ESC}[1;31mred${ESC}[0m ${ESC}[2Kplain ${ESC}]0;title\u0007${ESC}[94mblue`)).toEqual([
      { text: "red", color: 1, bold: true },
      { text: " ", color: null, bold: false },
      { text: "plain ", color: null, bold: false },
      { text: "blue", color: 12, bold: false },
    ]);
  });

  test("does not take the numbers of a palette colour for codes", () => {
    expect(parseLine(`${ESC}[38;5;31mx`)).toEqual([{ text: "x", color: null, bold: false }]);
  });

  test("that was redrawn shows its last drawing", () => {
    expect(parseLine("10 %\r50 %\r100 %\r")).toEqual([{ text: "100 %", color: null, bold: false }]);
  });
});

test("a spreadsheet gets text and no formulas", () => {
  const csv = toCsv(
    [aSession("a", { name: "=cmd()", reason: 'said "no", twice\nand left' })],
    SESSION_FIELDS,
  );
  expect(csv.split("\r\n")[0]).toMatch(/^id,name,state/);
  expect(csv).toContain("a,'=cmd(),RUNNING,");
  expect(csv).toContain('"said ""no"", twice\nand left"');
  expect(csv).toContain(",1000,1073741824,");
});

describe("an address", () => {
  test("carries what the page knows and nothing else", () => {
    expect(
      sessionsSearch({ state: "ended", q: 42, tab: "logs", session: "abc", order: "evil", x: 1 }),
    ).toEqual({
      state: "ended",
      q: "42",
      tab: "logs",
      session: "abc",
    });
  });

  test.each(["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])(
    "after signing in never leads to %s",
    (next) => expect(signInSearch({ next })).toEqual({}),
  );

  test("after signing in leads back to where one was", () => {
    expect(signInSearch({ next: "/sessions?session=abc" })).toEqual({ next: "/sessions?session=abc" });
  });
});

describe("the time that is left before an end", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");

  test("is counted down to the last second", () => {
    expect(leftUntil("2026-11-22T12:00:30Z", now)).toBe(30_000);
    expect(leftUntil("2026-11-22T12:00:01Z", now)).toBe(1000);
  });

  test("is not said to be nothing, however long the end is late", () => {
    expect(leftUntil("2026-11-22T12:00:00.999Z", now)).toBeNull();
    expect(leftUntil("2026-11-22T11:58:30Z", now)).toBeNull();
  });
});
