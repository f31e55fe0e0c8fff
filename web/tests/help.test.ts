import { expect, test } from "vitest";
import { DOCUMENTS, headingId, linked, pictured, searched } from "@/features/help/documents";

const all = [...DOCUMENTS.values()];

test("the index, the guides, the reference and the changes are there", () => {
  for (const path of ["", "howto/limits", "tutorial/first-session", "reference/cli", "changelog"]) {
    expect(DOCUMENTS.get(path)?.title, path).toBeTruthy();
  }
});

test("notes for the checks of documents are not shown", () => {
  expect(all.filter(({ text }) => text.includes("<!-- check"))).toEqual([]);
});

test("links lead to documents and to headings that these have", () => {
  const broken = all.flatMap((document) =>
    [...document.text.matchAll(/\]\(([^)\s:]+\.md(?:#[^)\s]+)?|#[^)\s]+)\)/g)].flatMap(([, href = ""]) => {
      const target = linked(document, href);
      // The repository has more texts than the documentation.
      if (!target) return /^(\.\.\/)+([A-Z]|deploy\/)/.test(href) ? [] : [`${document.file}: ${href}`];
      const text = DOCUMENTS.get(target.path)?.text ?? "";
      const ids = [...text.matchAll(/^#{1,3} (.+)$/gm)].map(([, heading = ""]) => headingId(heading));
      return !target.hash || ids.includes(target.hash) ? [] : [`${document.file}: ${href}`];
    }),
  );
  expect(broken).toEqual([]);
});

test("pictures of the documents are found, and nothing else", () => {
  const sources = all.flatMap((document) =>
    [...document.text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, source = ""]) => ({ document, source })),
  );
  expect(sources.length).toBeGreaterThan(20);
  expect(sources.filter(({ document, source }) => !pictured(document, source))).toEqual([]);
  expect(pictured(all[0] as (typeof all)[0], "/etc/passwd")).toBeNull();
});

test("the search finds documents with all words, titles first", () => {
  const titles = searched("network drive").map(({ document }) => document.path);
  expect(titles[0]).toBe("howto/network-drive");
  expect(searched("rclone")[0]?.line).toContain("rclone");
  expect(searched("nosuchwordanywhere")).toEqual([]);
  expect(searched("  ")).toEqual([]);
});
