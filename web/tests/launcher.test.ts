import { describe, expect, test } from "vitest";
import { cpuStops, memStops, nearestStop, verdict } from "@/launcher/amounts";
import { createCommand, shellQuote } from "@/launcher/command";
import { environmentRow, formLike, isName, toRequest, variableFault } from "@/launcher/request";
import { aSession } from "./sessions";

const GIB = 2 ** 30;

describe("the command line", () => {
  test("leaves plain words as they are and quotes what a shell would change", () => {
    expect(shellQuote("docker.io/library/python:3.13-slim@sha256:ab")).toBe(
      "docker.io/library/python:3.13-slim@sha256:ab",
    );
    expect(shellQuote("A=b")).toBe("A=b");
    expect(shellQuote("")).toBe("''");
    expect(shellQuote("two words")).toBe("'two words'");
    expect(shellQuote('$HOME `id` "x" \\')).toBe("'$HOME `id` \"x\" \\'");
    expect(shellQuote("it's")).toBe(String.raw`'it'\''s'`);
    expect(shellQuote("a\nb")).toBe("'a\nb'");
    expect(shellQuote("~")).toBe("'~'");
    expect(shellQuote("=ls")).toBe("'=ls'");
    expect(shellQuote("한글")).toBe("'한글'");
  });

  test("asks for the same session as the form", () => {
    const line = createCommand({
      image: "starter",
      name: "first_one",
      slots: { cpu: 500, mem: 1.5 * GIB },
      env: { LR: "0.01", NOTE: "it's new" },
      project: "vision lab",
    });
    expect(line).toBe(
      String.raw`carrel session create --image starter --cpu 0.5 --mem 1536m --name first_one --env LR=0.01 --env 'NOTE=it'\''s new' --project 'vision lab'`,
    );
  });

  test("leaves out what the form leaves out", () => {
    expect(createCommand({ image: "tiny", slots: { cpu: 2000, mem: GIB } })).toBe(
      "carrel session create --image tiny --cpu 2 --mem 1g",
    );
  });
});

describe("the form", () => {
  test.each(["abcd", "_a.b-c_", "a".repeat(64)])("takes the name %s", (name) =>
    expect(isName(name)).toBe(true),
  );
  test.each(["abc", "-abc", "abc.", "a b c", "a".repeat(65), "한글이름", "abcd\n"])(
    "refuses the name %j",
    (name) => expect(isName(name)).toBe(false),
  );

  test("refuses variables that are malformed or repeated, and overlooks empty rows", () => {
    const rows = ["PATH_1", "1X", "A-B", "PATH_1", ""].map((name) => environmentRow(name, name && "v"));
    expect(rows.map((_, index) => variableFault(rows, index))).toEqual([
      null,
      "malformed",
      "malformed",
      "repeated",
      null,
    ]);
    expect(variableFault([environmentRow("", "orphan")], 0)).toBe("malformed");
  });

  test("sends no name, variables or project that were not given", () => {
    const form = { image: " starter ", name: "", cpu: 1000, mem: GIB, env: [environmentRow()] };
    expect(toRequest(form, undefined)).toEqual({ image: "starter", slots: { cpu: 1000, mem: GIB } });
  });

  test("like another session takes everything but the name", () => {
    const form = formLike({ ...aSession("a"), env: { LR: "1" }, apps: [] });
    expect(toRequest(form, "p")).toEqual({
      image: "starter",
      slots: { cpu: 1000, mem: GIB },
      env: { LR: "1" },
      project: "p",
    });
  });
});

describe("amounts", () => {
  test.each([100, 250, 2000, 3500, 8000, 96_000])(
    "the CPU slider ends with the %d millicores there are",
    (capacity) => {
      const stops = cpuStops(capacity);
      expect(stops.at(-1)).toBe(capacity);
      expect(stops).toEqual([...new Set(stops)].sort((a, b) => a - b));
    },
  );

  test("the memory slider is finer at the low end and stays short for a large machine", () => {
    const stops = memStops(1024 * GIB);
    expect(stops[0]).toBe(GIB / 4);
    expect(stops.at(-1)).toBe(1024 * GIB);
    expect(stops.length).toBeLessThan(90);
  });

  test("an amount between two stops is shown at the nearer", () => {
    expect(nearestStop([1000, 2000, 4000], 2900)).toBe(1);
    expect(nearestStop([1000, 2000, 4000], 3100)).toBe(2);
  });

  test("more than fits now waits; more than there is can never be", () => {
    const amounts = (cpu: number) => ({ cpu, mem: 8 * GIB });
    const resources = {
      nodes: 2,
      capacity: amounts(8000),
      used: amounts(2000),
      left: amounts(6000),
      largest: amounts(4000),
    };
    expect(verdict(4000, "cpu", resources)).toBe("starts");
    expect(verdict(4001, "cpu", resources)).toBe("waits");
    expect(verdict(8000, "cpu", resources)).toBe("waits");
    expect(verdict(8001, "cpu", resources)).toBe("never");
  });
});

test("where one slot is used up, what is left of the other still counts", () => {
  const amounts = (cpu: number, gib: number) => ({ cpu, mem: gib * GIB });
  const resources = {
    nodes: 1,
    capacity: amounts(2000, 16),
    used: amounts(2000, 4),
    left: amounts(0, 12),
    largest: amounts(0, 0),
  };
  expect(verdict(GIB, "mem", resources)).toBe("starts");
  expect(verdict(13 * GIB, "mem", resources)).toBe("waits");
  expect(verdict(500, "cpu", resources)).toBe("waits");
});
