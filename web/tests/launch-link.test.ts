import { describe, expect, test } from "vitest";
import { roomShown } from "@/features/sessions/launcher/amounts";
import { freshAfter } from "@/features/sessions/launcher/dependencies";
import { fromLink, toLink } from "@/features/sessions/launcher/link";
import { freshMount } from "@/features/sessions/launcher/mounts";
import { presetVerdict, smallestFirst } from "@/features/sessions/launcher/presets";
import { freshForm, isComplete } from "@/features/sessions/launcher/request";
import { environmentRow } from "@/features/sessions/launcher/variables";
import { changedRequest, limitPage } from "@/features/sessions/why/replace";
import { launchLink } from "@/routing/launch-link";
import { aDetail } from "./sessions";

const initial = { ...freshForm("starter"), project: "vision" };
const mount = { ...freshMount(), folder: "f1", name: "data", subpath: "train", readOnly: true };
const changed = {
  ...initial,
  name: "first_one",
  group: "gpu",
  alternative_groups: ["cloud", "default"],
  priority: 0,
  time_limit_s: 3600,
  slots: { cpu: 2000, mem: 2 ** 30, "cuda.shares": 300 },
  mounts: [mount],
  after: [{ ...freshAfter(), session: "s1", name: "prepare-data", condition: "ended" as const }],
  on_dependency_failure: "wait" as const,
};

describe("the link of the launcher", () => {
  test("restores the form, as text in an address too", () => {
    const link = launchLink(JSON.parse(JSON.stringify(toLink(changed, initial))));
    const { mounts, after, ...others } = fromLink(link, initial);
    const { mounts: mounted, after: needed, ...rest } = changed;
    expect(others).toEqual(rest);
    expect(mounts.map(({ key, ...one }) => one)).toEqual(mounted.map(({ key, ...one }) => one));
    expect(after.map(({ key, ...one }) => one)).toEqual(needed.map(({ key, ...one }) => one));
  });

  test("is absent as long as nothing was changed", () => {
    expect(toLink({ ...initial, mounts: [] }, initial)).toBeUndefined();
    expect(fromLink(undefined, initial)).toEqual(initial);
  });

  test("does not hold the values of variables", () => {
    const form = { ...changed, env: [environmentRow("TOKEN", "secret")] };
    expect(JSON.stringify(toLink(form, initial))).not.toContain("secret");
  });

  test("takes back what was emptied", () => {
    const like = { ...initial, time_limit_s: 3600, mounts: [mount] };
    const emptied = { ...like, time_limit_s: null, mounts: [] };
    expect(fromLink(launchLink(toLink(emptied, like)), like)).toEqual(emptied);
  });

  test("ignores what is malformed", () => {
    expect(launchLink("text")).toBeUndefined();
    expect(launchLink([1])).toBeUndefined();
    expect(
      launchLink({ image: 1, slots: { cpu: "x", mem: 5 }, priority: "a", other: 1, mounts: [1] }),
    ).toEqual({
      slots: { mem: 5 },
      mounts: [],
    });
  });
});

test("the command is shown only for a complete form", () => {
  expect(isComplete(initial)).toBe(true);
  expect(isComplete({ ...initial, mounts: [freshMount()] })).toBe(false);
  expect(isComplete({ ...initial, env: [environmentRow("1X", "v")] })).toBe(false);
  expect(isComplete({ ...initial, name: "a b" })).toBe(false);
  expect(isComplete({ ...initial, image: " " })).toBe(false);
});

describe("presets", () => {
  test("come smallest first", () => {
    const presets: { name: string; slots: Record<string, number> }[] = [
      { name: "gpu", slots: { cpu: 1000, "cuda.device": 1 } },
      { name: "large", slots: { cpu: 8000, mem: 1 } },
      { name: "part", slots: { cpu: 9000, "cuda.shares": 500 } },
      { name: "b", slots: { cpu: 1000, mem: 2 } },
      { name: "a", slots: { cpu: 1000, mem: 1 } },
    ];
    expect(smallestFirst(presets).map(({ name }) => name)).toEqual(["a", "b", "large", "part", "gpu"]);
  });

  test("never contradict the verdict of the form", () => {
    const waits = { verdict: "waits", code: "", field: null } as const;
    expect(presetVerdict(waits, { verdict: "starts" }, { verdict: "waits" })).toBe("waits");
    expect(presetVerdict(waits, { verdict: "starts" }, { verdict: undefined })).toBeUndefined();
    expect(presetVerdict(waits, { verdict: "starts" }, null)).toBe("starts");
    const image = { verdict: "never", code: "image.not_permitted", field: "image" } as const;
    expect(presetVerdict(image, { verdict: "starts" }, null)).toBe("never");
    const large = { verdict: "never", code: "session.over_ceiling", field: "slots.cpu" } as const;
    expect(presetVerdict(large, { verdict: "starts" }, null)).toBe("starts");
  });
});

test("what starts now is shown as available", () => {
  const room = { now: 500, most: 4000, by: "the largest node" };
  expect(roomShown(room, 1000, "starts").now).toBe(1000);
  expect(roomShown(room, 1000, "waits").now).toBe(500);
  expect(roomShown(room, 100, "starts").now).toBe(500);
});

describe("a suggested change of a pending session", () => {
  const session = aDetail("a", {
    slots: { cpu: 1000, mem: 1 },
    group: { id: "g", name: "gpu" },
    description: "night run",
    env: { LR: "1" },
  });
  const change = { cost: 0.5, text: "", slots: {}, group: null, sessions: [], command: "" };

  test("is requested under the same name with everything else as it was", () => {
    expect(changedRequest(session, { ...change, kind: "smaller", slots: { cpu: 500, mem: 1 } })).toEqual({
      image: "starter",
      name: "name-a",
      description: "night run",
      project: "default",
      group: "gpu",
      slots: { cpu: 500, mem: 1 },
      env: { LR: "1" },
    });
    const elsewhere = changedRequest(session, { ...change, kind: "group", group: { id: "h", name: "cpu" } });
    expect([elsewhere.group, elsewhere.slots]).toEqual(["cpu", session.slots]);
  });

  test("and its limit lead to where they are changed", () => {
    expect(limitPage("project:k3f", "u1")).toMatchObject({ to: "/projects", search: { edit: "k3f" } });
    expect(limitPage("keypair:AK:1", "u1")).toMatchObject({
      to: "/users",
      search: { user: "u1", tab: "keypairs" },
    });
    expect(limitPage("sign-in:u1", "u1")).toBeNull();
  });
});
