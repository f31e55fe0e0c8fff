import { i18n, type MessageDescriptor } from "@lingui/core";
import { describe, expect, test } from "vitest";
import type { GraphEdge, GraphNode } from "@/api/types";
import { BOX, layout } from "@/features/sessions/detail/graph-layout";
import { createCommand } from "@/features/sessions/launcher/command";
import { afterFault, freshAfter } from "@/features/sessions/launcher/dependencies";
import {
  formLike,
  freshForm,
  isComplete,
  requestLike,
  toCheck,
  toRequest,
} from "@/features/sessions/launcher/request";
import { changedRequest } from "@/features/sessions/why/replace";
import { reasonIn } from "@/sentences/reasons";
import { aDetail } from "./sessions";

const row = (session: string, condition: "succeeded" | "failed" | "ended" = "succeeded") => ({
  ...freshAfter(),
  session,
  name: `name-${session}`,
  condition,
});
const needed = (id: string) => ({
  id,
  name: `name-${id}`,
  array: null,
  condition: "ended" as const,
  state: "RUNNING" as const,
  result: null,
  met: null,
});

describe("the launcher", () => {
  test("asks for what the rows hold, and leaves out what is usual", () => {
    const form = { ...freshForm("starter"), after: [row("a"), row("b", "failed")] };
    expect(toRequest(form)).toMatchObject({
      after: [
        { session: "a", condition: "succeeded" },
        { session: "b", condition: "failed" },
      ],
    });
    expect(toRequest(form)).not.toHaveProperty("on_dependency_failure");
    const waits = { ...form, on_dependency_failure: "wait" as const };
    expect(createCommand(toRequest(waits))).toContain(
      "--after a --after b:failed --on-dependency-failure wait",
    );
    expect(toRequest({ ...waits, after: [] })).not.toHaveProperty("on_dependency_failure");
  });

  test("asks for a whole array beside its first session, which has the same id", () => {
    const sweep = { ...row("a"), array: true };
    const after = [row("a", "ended"), sweep];
    expect(after.map((_, at) => afterFault(after, at))).toEqual([false, false]);
    expect(afterFault([sweep, { ...sweep, condition: "ended" }], 1)).toBe(true);
    const request = toRequest({ ...freshForm("starter"), after });
    expect(request.after).toEqual([
      { session: "a", condition: "ended" },
      { session: "a", condition: "succeeded", array: true },
    ]);
    expect(createCommand(request)).toContain("--after a:ended --after array:a");
    const array = { id: "a", name: "sweep", first: 1, last: 3, max_parallel: null, counts: [] };
    const session = aDetail("s", { state: "PENDING", after: [{ ...needed("a"), array }] });
    expect(requestLike(session).after).toEqual([{ session: "a", condition: "ended", array: true }]);
    expect(formLike(session).after).toMatchObject([{ name: "sweep[1-3]" }]);
  });

  test("checks only complete rows, each session once", () => {
    const rows = [row("a"), row(""), row("a", "ended")];
    expect(rows.map((_, at) => afterFault(rows, at))).toEqual([false, true, true]);
    const form = { ...freshForm("starter"), after: rows };
    expect(toCheck(form).after).toEqual([{ session: "a", condition: "succeeded" }]);
    expect(isComplete(form)).toBe(false);
  });

  test("copies the dependencies of a pending session, but not those that are over", () => {
    const hidden = { ...needed("x"), id: null, name: null };
    const session = aDetail("s", {
      state: "PENDING",
      after: [needed("a"), hidden],
      on_dependency_failure: "wait",
    });
    const after = [{ session: "a", condition: "ended" }];
    expect(requestLike(session)).toMatchObject({ after, on_dependency_failure: "wait" });
    expect(toRequest(formLike(session))).toMatchObject({ after, on_dependency_failure: "wait" });
    const change = { kind: "any_node", cost: 0, text: "", slots: {}, group: null, sessions: [], command: "" };
    expect(changedRequest(session, change as never)).toMatchObject({ after });
    expect(requestLike({ ...session, state: "TERMINATED" })).not.toHaveProperty("after");
  });
});

const node = (id: string): GraphNode => ({
  id,
  name: id,
  array: null,
  kind: "batch",
  state: "PENDING",
  result: null,
});
const edge = (after: string, session: string): GraphEdge => ({
  after,
  session,
  index: null,
  condition: "succeeded",
  met: null,
});

describe("the graph", () => {
  test("has every session right of all that it starts after, and no two at one place", () => {
    const nodes = ["train-a", "load", "split", "train-b", "report"].map(node);
    const edges = [
      edge("load", "split"),
      edge("split", "train-a"),
      edge("split", "train-b"),
      edge("train-a", "report"),
      edge("load", "report"),
    ];
    const placed = layout(nodes, edges);
    const at = new Map(placed.nodes.map((one) => [one.node.id, one]));
    for (const { after, session } of edges)
      expect(at.get(session)?.x).toBeGreaterThan(at.get(after)?.x ?? Number.NaN);
    expect(new Set(placed.nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    expect(placed.nodes.map(({ node }) => node.id)[0]).toBe("load");
    expect(placed.edges).toHaveLength(edges.length);
    expect(placed.width).toBe(4 * BOX.width + 3 * BOX.gapX);
  });

  test("of one session has one box", () => {
    expect(layout([node("a")], [])).toMatchObject({ width: BOX.width, height: BOX.height, edges: [] });
  });

  test("draws no line to a session that is left out", () => {
    expect(layout([node("a")], [edge("hidden", "a")]).edges).toEqual([]);
  });
});

describe("the reason of a session that starts after others", () => {
  const say = (message: MessageDescriptor) => i18n._(message);
  i18n.loadAndActivate({ locale: "en", messages: {} });

  test.each([
    ["It waits for prepare-data to succeed.", "It waits for prepare-data to succeed."],
    [
      "It waits for a to end, and for 2 other sessions.",
      "It waits for a to end. It also waits for 2 other sessions.",
    ],
    [
      "a failed, and this session was to start after its success.",
      "a failed. This session was to start after its success.",
    ],
    [
      "a was cancelled, and this session starts only after its failure.",
      "a was cancelled. This session starts only after its failure.",
    ],
    [
      "a reached its time limit, so a session cannot start after its success.",
      "a reached its time limit. So a session cannot start after it like this.",
    ],
    [
      "It waits for sweep[1-3] (2 of 3 have ended) to fail.",
      "It waits for sweep[1-3] to fail. 2 of 3 have ended.",
    ],
    [
      "It waits for sweep[1-3] (0 of 3 have ended) to end, and for 1 other session.",
      "It waits for sweep[1-3] to end. 0 of 3 have ended. It also waits for 1 other session.",
    ],
    [
      "Not all of sweep[1-3] succeeded, and this session was to start after its success.",
      "Not all sessions of sweep[1-3] succeeded. This session was to start after its success.",
    ],
    [
      "No session of sweep[1-3] failed, so a session cannot start after its failure.",
      "No session of sweep[1-3] failed. So a session cannot start after it like this.",
    ],
    [
      "There is no estimate, because load has no time limit.",
      "No estimated start time, because load has no time limit.",
    ],
    [
      "There is no estimate, because load waits for a session without a time limit.",
      "No estimated start time, because load waits for a session without a time limit.",
    ],
  ])("%s is known", (sentence, shown) => expect(reasonIn(say, sentence)).toBe(shown));
});
