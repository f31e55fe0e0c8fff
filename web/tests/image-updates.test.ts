import { expect, test } from "vitest";
import type { ImageDetail } from "@/api/types";
import { imageChanges, imageCommand, imageValues } from "@/features/environments/image-values";

const IMAGE = {
  id: "i1",
  name: "registry.example.org/ml/pytorch:2.4",
  hidden: false,
  deprecated: false,
  successor: null,
  aliases: [],
  preferred: false,
  recommended_slots: {},
  settings: {
    enabled: null,
    min_slots: {},
    domains: [],
    projects: [],
    groups: [],
    watch: "offer",
    pull_groups: [{ id: "g1", name: "gpu" }],
    pull_nodes: [],
  },
} as unknown as ImageDetail;

test("the form sends the rule and where updates are pulled only if they changed", () => {
  const values = imageValues(IMAGE);
  expect(imageChanges(IMAGE, values)).toEqual({});
  const taking = { ...values, watch: "take" as const, pull_groups: [], pull_nodes: ["n1"] };
  expect(imageChanges(IMAGE, taking)).toEqual({ watch: "take", pull_groups: [], pull_nodes: ["n1"] });
  expect(imageCommand(IMAGE, taking, () => "gpu-1")).toBe(
    "carrel image edit registry.example.org/ml/pytorch:2.4 --watch take --pull-to-group '' --pull-to gpu-1",
  );
});
