import { expect, test } from "vitest";
import { contentsBySource } from "@/features/environments/image-contents";

test("contents are named by where they were read, labels and environment first", () => {
  const contents_from = { pytorch: "python", python: "image", cudnn: "dpkg", jax: "python" };
  expect(contentsBySource({ contents_from })).toEqual([
    { source: "image", names: ["python"] },
    { source: "python", names: ["pytorch", "jax"] },
    { source: "dpkg", names: ["cudnn"] },
  ]);
  expect(contentsBySource({ contents_from: {} })).toEqual([]);
});
