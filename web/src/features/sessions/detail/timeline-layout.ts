import type { SessionTimeline, TimelineStep } from "@/api/types";

/** A bar of a row, in percent of the width. */
export interface Bar {
  step: TimelineStep["step"];
  left: number;
  width: number;
}

/** A row of the chart: a step of the session, an app, or the steps of one container. */
export interface TimelineRow {
  key: string;
  /** The step that names the row, unless it is of a container of a cluster. */
  step: TimelineStep["step"];
  /** The container of a cluster, or the app. */
  of: string | null;
  bars: Bar[];
  /** Null if a step of it never ended. */
  lasted: number | null;
  goesOn: boolean;
}

interface Span {
  from: number;
  to: number;
}

/**
 * The rows of the chart.
 *
 * The scale is that of the launch. A longer queue is cut at the left. Apps are opened at any later time, so that
 * their bars begin where the session ran.
 */
export function timelineRows(timeline: SessionTimeline, now: number): TimelineRow[] {
  const stopped = timeline.ready_at ?? timeline.stopped_at;
  const end = stopped ? Date.parse(stopped) : now;
  const spanOf = (step: TimelineStep): Span => {
    const from = Date.parse(step.begins_at);
    return { from, to: Math.max(from, step.ends_at ? Date.parse(step.ends_at) : end) };
  };
  const launch = timeline.steps.filter((one) => one.step !== "queue" && one.step !== "app");
  const apps = timeline.steps.filter((one) => one.step === "app").map(spanOf);
  const longestApp = Math.max(0, ...apps.map(({ from, to }) => to - from));
  const queued = timeline.steps.filter((one) => one.step === "queue").map(spanOf);
  const begin = Math.min(
    ...launch.map((one) => Date.parse(one.begins_at)),
    ...queued.map(({ to }) => to),
    end,
  );
  const longestQueue = Math.max(0, ...queued.map(({ from, to }) => to - from));
  const shownQueue = launch.length > 0 ? Math.min(longestQueue, Math.max(end - begin, 1)) : longestQueue;
  const scale = Math.max(1, shownQueue + (end - begin) + longestApp);
  const percent = (value: number) => Math.min(100, Math.max(0, (100 * value) / scale));

  const barOf = (step: TimelineStep): Bar => {
    const { from, to } = spanOf(step);
    if (step.step === "queue") {
      const length = Math.min(to - from, shownQueue);
      return { step: step.step, left: percent(shownQueue - length), width: percent(length) };
    }
    const left = step.step === "app" ? end - begin : from - begin;
    return { step: step.step, left: percent(shownQueue + left), width: percent(to - from) };
  };

  const several = new Set(launch.map((one) => one.container).filter(Boolean)).size > 1;
  const rows = new Map<string, TimelineRow>();
  for (const step of timeline.steps) {
    const of = step.app ?? (several ? step.container : null);
    const key = several && step.container ? step.container : `${step.step}:${of ?? ""}`;
    const row = rows.get(key) ?? { key, step: step.step, of, bars: [], lasted: 0, goesOn: false };
    const { from, to } = spanOf(step);
    row.bars.push(barOf(step));
    row.lasted = step.ends_at && row.lasted !== null ? row.lasted + to - from : null;
    row.goesOn ||= step.ends_at === null && stopped === null;
    rows.set(key, row);
  }
  return [...rows.values()];
}
