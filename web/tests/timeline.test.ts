import { describe, expect, it } from "vitest";
import type { SessionTimeline, TimelineStep } from "@/api/types";
import { timelineRows } from "@/features/sessions/detail/timeline-layout";

const at = (second: number) => new Date(Date.UTC(2026, 0, 31, 12) + second * 1000).toISOString();

function step(
  name: TimelineStep["step"],
  begins: number,
  ends: number | null,
  of: Partial<TimelineStep> = {},
): TimelineStep {
  return {
    step: name,
    container: null,
    app: null,
    begins_at: at(begins),
    ends_at: ends === null ? null : at(ends),
    ...of,
  };
}

const timeline = (ready: number | null, ...steps: TimelineStep[]): SessionTimeline => ({
  number: 1,
  begins_at: at(0),
  ready_at: ready === null ? null : at(ready),
  stopped_at: null,
  steps,
});
const main = { container: "main" };

describe("rows of the start-up timeline", () => {
  it("gives each step of a session of one container a row, after the queue", () => {
    const rows = timelineRows(
      timeline(20, step("queue", 0, 10), step("image", 10, 15, main), step("container", 15, 20, main)),
      Date.parse(at(90)),
    );
    expect(rows.map(({ step, of, lasted }) => [step, of, lasted])).toEqual([
      ["queue", null, 10_000],
      ["image", null, 5000],
      ["container", null, 5000],
    ]);
    expect(rows.map(({ bars }) => bars[0])).toEqual([
      { step: "queue", left: 0, width: 50 },
      { step: "image", left: 50, width: 25 },
      { step: "container", left: 75, width: 25 },
    ]);
  });

  it("cuts a queue that lasted longer than the launch", () => {
    const rows = timelineRows(
      timeline(3610, step("queue", 0, 3600), step("image", 3600, 3610, main)),
      Date.parse(at(4000)),
    );
    expect(rows[0]).toMatchObject({ lasted: 3_600_000, bars: [{ left: 0, width: 50 }] });
    expect(rows[1]?.bars[0]).toMatchObject({ left: 50, width: 50 });
  });

  it("shows the steps of each container of a cluster in one row", () => {
    const sub = { container: "sub1" };
    const rows = timelineRows(
      timeline(
        10,
        step("image", 0, 4, main),
        step("container", 4, 5, main),
        step("image", 0, 8, sub),
        step("container", 8, 10, sub),
      ),
      Date.parse(at(10)),
    );
    expect(rows.map(({ of, bars, lasted }) => [of, bars.length, lasted])).toEqual([
      ["main", 2, 5000],
      ["sub1", 2, 10_000],
    ]);
  });

  it("begins the bar of an app where the session ran, however much later it was opened", () => {
    const rows = timelineRows(
      timeline(10, step("image", 0, 10, main), step("app", 7200, 7210, { app: "jupyter" })),
      Date.parse(at(8000)),
    );
    expect(rows[1]).toMatchObject({ of: "jupyter", lasted: 10_000, bars: [{ left: 50, width: 50 }] });
  });

  it("lets a step that goes on grow until now", () => {
    const rows = timelineRows(
      timeline(null, step("queue", 0, 5), step("image", 5, null, main)),
      Date.parse(at(10)),
    );
    expect(rows[1]).toMatchObject({ goesOn: true, lasted: null, bars: [{ left: 50, width: 50 }] });
  });
});
