import { expect, test } from "vitest";
import { LogBuffer } from "@/features/sessions/detail/log-buffer";

const record = (text: string, stream = "stdout", partial = false) =>
  `${JSON.stringify({ at: "2026-01-01T00:00:00.000000000Z", stream, text, ...(partial ? { partial } : {}) })}\n`;
const texts = (buffer: LogBuffer) => buffer.read().map((line) => line.text);

test("chunks may end anywhere", () => {
  const whole = record("one") + record("zwei", "stderr") + record("");
  for (let cut = 0; cut <= whole.length; cut++) {
    const buffer = new LogBuffer(10);
    buffer.add(whole.slice(0, cut));
    buffer.add(whole.slice(cut));
    expect(texts(buffer)).toEqual(["one", "zwei", ""]);
    expect(buffer.read()[1]?.stream).toBe("stderr");
  }
});

test("parts of a long line are one line, beside lines of the other stream", () => {
  const buffer = new LogBuffer(10);
  buffer.add(record("a", "stdout", true) + record("other", "stderr") + record("b", "stdout", true));
  expect(texts(buffer)).toEqual(["ab", "other"]);
  buffer.add(record("c") + record("next"));
  expect(texts(buffer)).toEqual(["abc", "other", "next"]);
});

test("the newest lines are kept", () => {
  const buffer = new LogBuffer(2);
  buffer.add(record("1") + record("2") + record("3"));
  expect(texts(buffer)).toEqual(["2", "3"]);
});

test("a line without an end does not grow for ever", () => {
  const buffer = new LogBuffer(1000);
  for (let i = 0; i < 50; i++) buffer.add(record("x".repeat(16 * 1024), "stdout", true));
  expect(Math.max(...texts(buffer).map((text) => text.length))).toBeLessThan(100 * 1024);
});
