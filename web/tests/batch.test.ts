import { describe, expect, test } from "vitest";
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
