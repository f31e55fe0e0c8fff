import { expect, test } from "vitest";
import type { Registry } from "@/api/types";
import { changed, created, registryCommand, valuesOf } from "@/features/environments/registry-values";
import { REPOSITORY, TAG } from "@/features/environments/words";

const NEW = { ...valuesOf(undefined, "installation"), name: "ours", url: "https://r.example.org" };
const OPEN = { push: "members" as const, push_repositories: ["team/*"] };

test("a registry takes no pushes unless its form says so", () => {
  expect(created(NEW)).toMatchObject({ push: "nobody", push_repositories: [] });
  expect(registryCommand(undefined, NEW)).not.toContain("--push");
  const command = registryCommand(undefined, { ...NEW, ...OPEN });
  expect(command).toContain("--push members --push-repository 'team/*'");
});

test("who may push is sent only if it was changed", () => {
  const registry = { ...created(NEW), mirror: "", has_secret: false } as unknown as Registry;
  expect(changed(registry, NEW)).toEqual({});
  expect(changed(registry, { ...NEW, ...OPEN })).toEqual(OPEN);
});

test("repositories and tags are those that registries take", () => {
  for (const name of ["torch", "team/torch", "a_b/c__d/e-f.g"]) expect(REPOSITORY.test(name)).toBe(true);
  for (const name of ["", "Team/x", "/a", "a/", "a//b", "a..b"]) expect(REPOSITORY.test(name)).toBe(false);
  expect(TAG.test("2026-11")).toBe(true);
  expect(TAG.test("-1")).toBe(false);
});
