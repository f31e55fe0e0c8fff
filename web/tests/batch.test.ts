import { describe, expect, test } from "vitest";
import { formatArray, readArray } from "@/features/sessions/launcher/array";
import { createCommand } from "@/features/sessions/launcher/command";
import { freshForm, isComplete, toCheck, toRequest, toScript } from "@/features/sessions/launcher/request";

const GIB = 2 ** 30;
const form = { ...freshForm("starter"), kind: "batch" as const, script: "python train.py\n" };

describe("a batch session in the launcher", () => {
  test("runs its script by a shell", () => {
    expect(toRequest({ ...form, retries: 2 })).toEqual({
      image: "starter",
      slots: { cpu: 1000, mem: GIB },
      kind: "batch",
      command: ["/bin/sh", "-c", "python train.py"],
      retries: 2,
    });
  });

  test("leaves its fields out of an interactive one", () => {
    const request = toRequest({ ...form, kind: "interactive", retries: 2 });
    expect(request).toEqual({ image: "starter", slots: { cpu: 1000, mem: GIB } });
  });

  test("starts at a local time", () => {
    const { start_at } = toRequest({ ...form, start_at: "2026-12-24T22:00" });
    expect(start_at).toBe(new Date(2026, 11, 24, 22).toISOString());
  });

  test("is complete with a command only", () => {
    expect(isComplete(form)).toBe(true);
    expect(isComplete({ ...form, script: " " })).toBe(false);
  });

  test("is checked without its command", () => {
    expect(toCheck(form)).toEqual({ image: "starter", slots: { cpu: 1000, mem: GIB }, kind: "batch" });
  });

  test("is one line of carrel run", () => {
    expect(createCommand(toRequest({ ...form, retries: 1 }))).toBe(
      "carrel run --detach --image starter --cpu 1 --mem 1g --retries 1 -- /bin/sh -c 'python train.py'",
    );
  });
});

test.each([
  [["/bin/sh", "-c", "a && b"], "a && b"],
  [["python", "train.py", "a b"], "python train.py 'a b'"],
  [["sh", "-c", "echo $1", "sh", "x"], "sh -c 'echo $1' sh x"],
  [[], ""],
])("%s as lines of a shell", (command, script) => {
  expect(toScript(command)).toBe(script);
});

describe("an array in the launcher", () => {
  const array = { first: 1, last: 100, max_parallel: 8 };

  test("is a range with a limit, as on the command line", () => {
    expect(readArray(" 1-100%8 ")).toEqual(array);
    expect(readArray("0-0")).toEqual({ first: 0, last: 0 });
    expect(formatArray(array)).toBe("1-100%8");
    expect(formatArray({ first: 0, last: 9, max_parallel: null })).toBe("0-9");
    for (const text of ["", "5", "9-1", "1-10001", "1-5%0", "1-5%", "a-b"])
      expect(readArray(text)).toBeNull();
  });

  test("is requested, checked and one line of carrel run", () => {
    const many = { ...form, array: "1-100%8" };
    expect(toRequest(many).array).toEqual(array);
    expect(toCheck(many).array).toEqual(array);
    expect(createCommand(toRequest(many))).toContain(" --array 1-100%8 -- /bin/sh");
    expect(toRequest({ ...many, kind: "interactive" })).not.toHaveProperty("array");
    expect(isComplete({ ...many, array: "9-1" })).toBe(false);
  });
});
