import { expect, test } from "vitest";
import type { Folder } from "@/api/types";
import { buildCommand, EMPTY_BUILD, newBuild } from "@/features/environments/build-values";

const FOLDERS = [{ id: "f1", name: "projects" }] as Folder[];
const PROJECTS = [{ id: "p1", name: "vision" }];
const command = (values: Partial<typeof EMPTY_BUILD>) =>
  buildCommand({ ...EMPTY_BUILD, name: "lab", ...values }, FOLDERS, PROJECTS);

test("a recipe is sent, without what was typed for other sources", () => {
  const values = { ...EMPTY_BUILD, name: "lab", text: "numpy", url: "https://x/y.git", path: "sub" };
  expect(newBuild(values)).toEqual({
    name: "lab",
    note: "",
    files: { "requirements.txt": "numpy" },
    file: "requirements.txt",
  });
  expect(command(values)).toBe("carrel environment build lab -f requirements.txt");
});

test("a private repository is fetched with its token, at a directory", () => {
  const values = {
    ...EMPTY_BUILD,
    name: "lab",
    from: "git" as const,
    url: " https://git.example.org/lab/tools ",
    ref: "v1",
    path: "/sub/",
    credentials: "token" as const,
    secret: "s3cret",
    text: "numpy",
  };
  expect(newBuild(values)).toEqual({
    name: "lab",
    note: "",
    git: { url: "https://git.example.org/lab/tools", ref: "v1", path: "sub", token: "s3cret" },
  });
  expect(command(values)).toBe(
    "carrel environment build lab --git https://git.example.org/lab/tools --ref v1 --path sub --token-file token.txt",
  );
  expect(command({ from: "git", url: "https://x/y.git", path: "/" })).toBe(
    "carrel environment build lab --git https://x/y.git",
  );
});

test("a directory of a folder is read, with a recipe that is chosen", () => {
  const values = {
    ...EMPTY_BUILD,
    name: "lab",
    from: "folder" as const,
    folder: "f1",
    path: "lab/",
    file: "gpu.Dockerfile",
    project: "p1",
    base: "debian",
    recipe: "Dockerfile" as const,
  };
  expect(newBuild(values)).toEqual({
    name: "lab",
    note: "",
    folder: { folder: "f1", path: "lab" },
    file: "gpu.Dockerfile",
    project: "p1",
    base: "debian",
  });
  expect(command(values)).toBe(
    "carrel environment build lab --folder projects:lab -f gpu.Dockerfile --base debian --project vision",
  );
});
