import { expect, test } from "vitest";
import type { AppTemplate } from "@/api/types";
import { appValuesOf, argumentsOf, definitionOf } from "@/features/app-catalogue/app-values";

const textOf = (command: string[]) =>
  appValuesOf({ name: "a", title: "A", port: 1, command } as AppTemplate).command;

test.each([
  [["board", "--port={port}"], "board\n--port={port}"],
  [["sh", "-c", "set -e\nexec board", ""], undefined],
])("a command comes back from its input as it was: %j", (words, shown) => {
  const text = textOf(words);
  if (shown !== undefined) expect(text).toBe(shown);
  expect(argumentsOf(text)).toEqual(words);
  expect(definitionOf({ ...appValuesOf(undefined), command: text }).command).toEqual(words);
});

test.each(['["sh", 1]', "[sh", '[["sh"]]'])("a list of anything else is no command: %s", (text) => {
  expect(argumentsOf(text)).toBeNull();
});
