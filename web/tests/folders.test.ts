import { describe, expect, test } from "vitest";
import type { FileEntry, Quota } from "@/api/types";
import { previewKind } from "@/features/explorer/kinds";
import { isSource } from "@/features/explorer/languages";
import { readNotebook } from "@/features/explorer/notebook";
import {
  copyName,
  extensionOf,
  isWithin,
  join,
  nameFault,
  parentOf,
  resolveAddress,
  resolvePath,
  shownName,
  stepsTo,
} from "@/features/explorer/paths";
import { decoded, lineEnd } from "@/features/explorer/text";
import { hasThumbnail, limited } from "@/features/explorer/thumbnails";
import { isFolderName } from "@/features/folders/command";
import { shownQuotas } from "@/features/folders/UsageStrip";
import { permits } from "@/features/folders/words";
import {
  freshMount,
  type MountRow,
  mountFault,
  mountWord,
  targetOf,
  toMount,
} from "@/features/sessions/launcher/mounts";
import { batchesOf } from "@/features/uploads/batches";
import { readDropped } from "@/features/uploads/dropped";
import type { UploadItem, UploadState } from "@/features/uploads/tasks";

describe("a path in a folder", () => {
  test("is put together and taken apart", () => {
    expect(join("", "a")).toBe("a");
    expect(join("a/b", "c")).toBe("a/b/c");
    expect(parentOf("a/b/c")).toBe("a/b");
    expect(parentOf("a")).toBe("");
    expect(stepsTo("a/b")).toEqual([
      { name: "a", path: "a" },
      { name: "b", path: "a/b" },
    ]);
    expect(stepsTo("")).toEqual([]);
  });

  test("is within a directory, and not within one whose name only begins alike", () => {
    expect(isWithin("a/b", "a")).toBe(true);
    expect(isWithin("ab", "a")).toBe(false);
    expect(isWithin("ab", "")).toBe(true);
  });

  test.each([
    ["docs", "../a.png", "a.png"],
    ["docs", "./x/../a.png", "docs/a.png"],
    ["docs", "/a.png", "a.png"],
    ["", "../a.png", null],
  ])("from %s, %s is %s", (directory, written, found) => expect(resolvePath(directory, written)).toBe(found));

  test.each([
    ["a%20b.png", "docs/a b.png"],
    ["%E5%9B%B3.png", "docs/図.png"],
    ["a%23b.png", "docs/a#b.png"],
    ["%ff.png", null],
    ["100%.png", null],
    ["%2e%2e/%2e%2e/a.png", null],
  ])("an address %s in docs is that of %s", (written, found) =>
    expect(resolveAddress("docs", written)).toBe(found),
  );

  test.each([
    ["a.TXT", "txt"],
    [".profile", ""],
    ["README", ""],
    ["a.tar.gz", "gz"],
  ])("the extension of %s is %s", (name, extension) => expect(extensionOf(name)).toBe(extension));

  test.each([
    ["a.txt", "a (copy).txt"],
    ["README", "README (copy)"],
    [".env", ".env (copy)"],
  ])("a copy of %s is %s", (name, copy) => expect(copyName(name)).toBe(copy));

  test("has further copies with a number", () => {
    expect(copyName("a.txt", 2)).toBe("a (copy 2).txt");
    expect(copyName(".env", 3)).toBe(".env (copy 3)");
  });

  test("shows what would turn it around or break its line", () =>
    expect(shownName("a\u202egpj.exe\nb")).toBe("a\u2426gpj.exe\u240ab"));

  test.each([
    ["", "empty"],
    ["a/b", "slash"],
    ["..", "dots"],
    ["가".repeat(86), "long"],
    ["a\nb", null],
  ])("the name %j has the fault %s", (name, fault) => expect(nameFault(name)).toBe(fault));
});

describe("what is in a file", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test("is text, or it is not", () => {
    expect(decoded(bytes("né"), true)).toBe("né");
    expect(decoded(new Uint8Array([65, 0, 66]), true)).toBeNull();
    expect(decoded(new Uint8Array([0xff, 0xfe, 65]), true)).toBeNull();
    expect(decoded(bytes("\ufeffa"), true)).toBe("\ufeffa");
  });

  test("may be cut within a character when there is more of it", () => {
    const cut = bytes("a한").subarray(0, 3);
    expect(decoded(cut, false)).toBe("a");
    expect(decoded(cut, true)).toBeNull();
  });

  test.each([
    ["a\r\nb\r\n", "\r\n"],
    ["a\nb\n", "\n"],
    ["a\r\nb\n", "\n"],
    ["\na\r\n", "\n"],
    ["", "\n"],
  ])("the lines of %j end with %j", (text, end) => expect(lineEnd(text)).toBe(end));

  test.each([
    ["a.CSV", "table"],
    ["a.ipynb", "notebook"],
    ["README.md", "markdown"],
    ["a.png", "image"],
    ["Makefile", "text"],
  ])("%s is shown as %s", (name, kind) => expect(previewKind(name)).toBe(kind));

  test("is a notebook with its outputs, and never its HTML", () => {
    const cells = readNotebook(
      JSON.stringify({
        cells: [
          { cell_type: "markdown", source: ["# a\n", "b"] },
          {
            cell_type: "code",
            execution_count: 2,
            source: "1/0",
            outputs: [
              { output_type: "stream", name: "stdout", text: ["x\n"] },
              { output_type: "display_data", data: { "text/html": "<script>", "image/png": "aGk=\n" } },
              { output_type: "display_data", data: { "text/html": "<script>" } },
              { output_type: "error", ename: "E", evalue: "v", traceback: ["\u001b[31mbad\u001b[0m"] },
            ],
          },
        ],
      }),
    );
    expect(cells?.[0]).toMatchObject({ kind: "markdown", source: "# a\nb" });
    expect(cells?.[1]?.outputs).toEqual([
      { kind: "text", text: "x\n", bad: false },
      { kind: "picture", address: "data:image/png;base64,aGk=" },
      { kind: "left-out" },
      { kind: "text", text: "bad", bad: true },
    ]);
    expect(readNotebook("{")).toBeNull();
    expect(readNotebook("[]")).toBeNull();
  });
});

describe("a folder", () => {
  test.each([
    ["data", true],
    [".ssh", true],
    ["a.b-c_d", true],
    ["", false],
    ["..", false],
    ["a b", false],
    ["a".repeat(65), false],
  ])("called %s: %s", (name, fine) => expect(isFolderName(name)).toBe(fine));

  test("permits what needs as much or less", () => {
    expect(permits("rw", "ro")).toBe(true);
    expect(permits("rw", "rw-delete")).toBe(false);
    expect(permits(null, "ro")).toBe(false);
  });
});

describe("a folder in a session", () => {
  const row = (part: Partial<MountRow>): MountRow => ({
    ...freshMount(),
    folder: "f",
    name: "data",
    ...part,
  });

  test("is below the home directory unless the path begins with a slash", () => {
    expect(targetOf({ path: "", name: "data" })).toBe("/home/work/data");
    expect(targetOf({ path: "x/y/", name: "data" })).toBe("/home/work/x/y");
    expect(targetOf({ path: "/data", name: "data" })).toBe("/data");
  });

  test.each([
    [[row({ folder: "" })], 0, "none"],
    [[row({ path: "a b" })], 0, "path"],
    [[row({ path: "../x" })], 0, "path"],
    [[row({ path: "/home/work" })], 0, "home"],
    [[row({}), row({ path: "data/sub" })], 1, "overlap"],
    [[row({}), row({ path: "data2" })], 1, null],
  ] as const)("fault of row %#", (rows, index, fault) => expect(mountFault(rows, index)).toBe(fault));

  test.each([
    [{}, "data"],
    [{ path: "x" }, "data:/home/work/x"],
    [{ subpath: "train" }, "data:train"],
    [{ path: "/d", subpath: "train", readOnly: true }, "data:train:/d:ro"],
  ])("%j is %s on the command line", (part, word) =>
    expect(mountWord(toMount(row(part)), "data")).toBe(word),
  );
});

describe("what is dropped from the desktop", () => {
  type Entry = Partial<FileSystemFileEntry & FileSystemDirectoryEntry>;
  const gone = new DOMException("gone", "NotFoundError");
  const file = (name: string, readable = true): Entry => ({
    isFile: true,
    name,
    file: (found, failed) => (readable ? found(new File([], name)) : failed?.(gone)),
  });
  const directory = (name: string, children: Entry[] | null): Entry => ({
    isFile: false,
    name,
    createReader: () => {
      let left = children;
      return {
        readEntries: (found, failed) => {
          if (!left) return failed?.(gone);
          found(left as FileSystemEntry[]);
          left = [];
        },
      };
    },
  });
  const drop = (...entries: Entry[]) =>
    readDropped({
      items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })),
    } as unknown as DataTransfer);

  test("comes without what cannot be read, and that is named", async () => {
    const tree = directory("tree", [
      file("locked", false),
      directory("shut", null),
      directory("empty", []),
      file("a"),
    ]);
    const found = await drop(tree, file("b"));
    expect(found.files.map(({ path }) => path)).toEqual(["tree/a", "b"]);
    expect(found.empty).toEqual(["tree/empty"]);
    expect(found.unread).toEqual(["tree/locked", "tree/shut"]);
  });
});

describe("uploads", () => {
  const item = (key: number, batch: number, state: UploadState, sent = 0): UploadItem => ({
    key,
    batch,
    folder: { id: "f", name: "data" },
    path: `${key}`,
    size: 10,
    sent,
    state,
    problem: null,
  });

  test("that were asked for together are one, the newest first", () => {
    const [second, first] = batchesOf([
      item(1, 1, "done", 10),
      item(2, 1, "failed"),
      item(3, 2, "sending", 4),
    ]);
    expect(first).toMatchObject({ key: 1, done: 1, sentBytes: 10, totalBytes: 20, state: "failed" });
    expect(first?.troubles.map(({ key }) => key)).toEqual([2]);
    expect(second).toMatchObject({ key: 2, state: "open" });
  });

  test("are paused when all that is open is, and what was skipped counts for nothing", () => {
    const [batch] = batchesOf([item(1, 1, "paused"), item(2, 1, "done", 10), item(3, 1, "skipped")]);
    expect(batch).toMatchObject({ state: "paused", totalBytes: 20 });
  });
});

describe("thumbnails", () => {
  const entry = (part: Partial<FileEntry>) =>
    ({ kind: "file", name: "a.png", readable: true, size_bytes: 1000, ...part }) as FileEntry;

  test("are made of images of a bounded size", () => {
    expect(hasThumbnail(entry({}))).toBe(true);
    expect(hasThumbnail(entry({ name: "a.py" }))).toBe(false);
    expect(hasThumbnail(entry({ name: "a.svg" }))).toBe(false);
    expect(hasThumbnail(entry({ kind: "directory" }))).toBe(false);
    expect(hasThumbnail(entry({ size_bytes: 5 * 2 ** 20 }))).toBe(false);
  });

  test("are made a few at once, and go on after an error", async () => {
    const inTurn = limited(2);
    const ends: (() => void)[] = [];
    let running = 0;
    let peak = 0;
    const act = (fails: boolean) =>
      inTurn(async () => {
        peak = Math.max(peak, ++running);
        await new Promise<void>((end) => ends.push(end));
        running -= 1;
        if (fails) throw new Error("broken");
      });
    const all = Promise.allSettled([act(true), act(false), act(false), act(false)]);
    for (let ended = 0; ended < 4; ) {
      await Promise.resolve();
      const end = ends.shift();
      if (end) ended += 1;
      end?.();
    }
    await all;
    expect(peak).toBe(2);
  });
});

test("source files have a language, others have none", () => {
  for (const name of ["train.py", "kernel.cu", "Dockerfile", "main.rs"]) expect(isSource(name)).toBe(true);
  for (const name of ["notes.txt", "train", "a.constructor"]) expect(isSource(name)).toBe(false);
});

test("the storage strip shows the quotas of the user and of the current project", () => {
  const quota = (kind: Quota["kind"], id: string) => ({ kind, id }) as Quota;
  const quotas = [quota("user", "u"), quota("project", "p1"), quota("project", "p2")];
  expect(shownQuotas(quotas, "p2").map(({ id }) => id)).toEqual(["u", "p2"]);
  expect(shownQuotas(quotas, undefined).map(({ id }) => id)).toEqual(["u"]);
});
