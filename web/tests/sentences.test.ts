import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { i18n, type MessageDescriptor } from "@lingui/core";
import { describe, expect, test } from "vitest";
import { CAUSES } from "@/sentences/causes";
import { PROBLEMS, UNTRANSLATED } from "@/sentences/problems";
import { PHASES } from "@/sentences/progress";
import { reasonIn } from "@/sentences/reasons";

const SERVER = "../src/carrel";
const source = readdirSync(SERVER, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".py"))
  .map((file) => readFileSync(join(SERVER, file), "utf8"))
  .join("\n");
const reference = readFileSync("../docs/reference/errors.md", "utf8");

const all = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map((found) => found[1] ?? "")),
];
const documented = (title: string): string[] =>
  all(reference.split(`## ${title}`)[1]?.split("\n## ")[0] ?? "", /^\| `([a-z_.]+)`/gm);

const KINDS =
  "NotFound|Conflict|Forbidden|Unauthorized|Invalid|Refused|Unavailable|CarrelError|TooManyAttempts|Broken";
const raised = all(source, new RegExp(`\\b(?:${KINDS})\\(\\s*"([a-z_.]+)"`, "g"));
const say = (message: MessageDescriptor) => i18n._(message);
i18n.loadAndActivate({ locale: "en", messages: {} });

describe("every code of the server", () => {
  const codes = [...new Set([...raised, ...documented("Of the API")])];

  test("is found", () => {
    expect(raised).toContain("session.name_taken");
    expect(codes.length).toBeGreaterThan(40);
  });

  test.each(codes)("%s has a sentence in other languages, or is left out on purpose", (code) => {
    const left = UNTRANSLATED.some((one) => (typeof one === "string" ? one === code : one.test(code)));
    expect(code in PROBLEMS !== left, code).toBe(true);
  });

  test.each(Object.keys(PROBLEMS))("%s is still one of the server's", (code) => {
    expect(codes).toContain(code);
  });
});

test.each([...all(source, /\bcause="([a-z_]+)"/g), ...documented("In a session's history")])(
  "the cause %s in a history has words",
  (cause) => expect(CAUSES).toHaveProperty(cause),
);

test.each(Object.keys(PHASES))("the phase %s is still one of the server's", (phase) => {
  expect(source).toContain(`Progress("${phase}"`);
});

describe("the reason of a state", () => {
  test.each([
    "No node has joined yet.",
    "An earlier session has waited so long that nothing may start before it.",
    "Its container disappeared from the engine.",
    "The engine did not confirm the removal in time; it is cleaned up when it answers.",
  ])("%s is still the server's and known", (sentence) => {
    expect(source).toContain(`"${sentence}"`);
    expect(reasonIn(say, sentence)).toBe(sentence);
  });

  test("that names a person is known", () => {
    expect(source).toContain('f"Ended by {actor.email}."');
    expect(reasonIn(say, "Ended by a@b.c.")).toBe("Ended by a@b.c.");
  });

  test("that counts nodes is known, all parts of it", () => {
    for (const part of ['"not ready"', 'f"needs {format_slot(slot, amount)}, ', '"; ".join(']) {
      expect(source).toContain(part);
    }
    const said = reasonIn(say, "1 node: not ready; 2 nodes: needs 3 CPU, 0.5 CPU free.");
    expect(said).toContain("1 node(s) are not ready.");
    expect(said).toContain("On 2 node(s) 0.5 CPU is free, and 3 CPU is wanted.");
    expect(reasonIn(say, "1 node: not ready; something new.")).toBeNull();
  });

  test("that nobody foresaw is left to the server", () => {
    expect(reasonIn(say, "The moon was in the way.")).toBeNull();
  });
});
