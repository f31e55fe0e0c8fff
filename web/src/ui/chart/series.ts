/** One line of a chart. */
export interface Line {
  key: string;
  label: string;
  /** Name of a colour token. */
  color: string;
  /** One per time; null: not measured. */
  values: readonly (number | null)[];
  /** The maximum within each interval, if the values are means of longer intervals. */
  peaks?: readonly (number | null)[];
  /** For limits and capacities: no area, no mean and peak. */
  dashed?: boolean;
}

/** Unix seconds. */
export type TimeRange = readonly [from: number, to: number];

/** The steps of an axis: powers of two for bytes, round decimals otherwise, not below 1 for whole numbers. */
export type Scale = "binary" | "decimal" | "whole";

const TICKS = 4;
const DAY_S = 86_400;

/** The mean and the maximum of a line within the range; null without values. */
export function summary(
  times: readonly number[],
  line: Pick<Line, "values" | "peaks">,
  [from, to]: TimeRange,
): { mean: number; peak: number } | null {
  let sum = 0;
  let count = 0;
  let peak = Number.NEGATIVE_INFINITY;
  times.forEach((at, index) => {
    const value = line.values[index];
    if (value == null || at < from || at > to) return;
    sum += value;
    count += 1;
    peak = Math.max(peak, line.peaks?.[index] ?? value);
  });
  return count > 0 ? { mean: sum / count, peak } : null;
}

/** Round values from 0 to `top`, about four steps apart. */
export function valueTicks(top: number, scale: Scale): number[] {
  if (!(top > 0)) return [0];
  const rough = top / TICKS;
  let step: number;
  if (scale === "binary") {
    step = 2 ** Math.ceil(Math.log2(rough));
  } else {
    const size = 10 ** Math.floor(Math.log10(rough));
    step = size * ([1, 2, 5].find((factor) => factor * size >= rough) ?? 10);
    if (scale === "whole") step = Math.max(step, 1);
  }
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** The labels of an axis; a label equal to the one before it is left out. */
export function distinct(labels: readonly string[]): string[] {
  return labels.map((label, index) => (label === labels[index - 1] ? "" : label));
}

/** Labels of moments `step_s` apart: the time of day, and the date where a day begins. */
export function timeLabels(times: readonly number[], step_s: number, locale: string): string[] {
  const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
  const clock = new Intl.DateTimeFormat(locale, {
    hour: "2-digit",
    minute: "2-digit",
    ...(step_s < 60 && { second: "2-digit" }),
  });
  return distinct(
    times.map((seconds) => {
      const at = new Date(seconds * 1000);
      const midnight = at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0;
      return step_s >= DAY_S || midnight ? day.format(at) : clock.format(at);
    }),
  );
}

/** Indexes of at most `most` evenly spaced values within the range, the newest first. */
export function rowsWithin(times: readonly number[], [from, to]: TimeRange, most: number): number[] {
  const within = times.flatMap((at, index) => (at >= from && at <= to ? [index] : [])).reverse();
  const step = Math.max(1, Math.ceil(within.length / most));
  return within.filter((_, index) => index % step === 0);
}
