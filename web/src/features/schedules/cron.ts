/** Cron expressions of five fields as forms and as parts to be put into words. */

export const REPEATS = ["hour", "day", "weekdays", "week", "month", "custom"] as const;
export type Repeat = (typeof REPEATS)[number];

/** A repetition as its form holds it. time: "HH:MM"; weekday: 0 is Sunday; expression: of "custom". */
export interface Repetition {
  every: Repeat;
  minute: number;
  time: string;
  weekday: number;
  day: number;
  expression: string;
}

export const USUAL: Repetition = {
  every: "day",
  minute: 0,
  time: "06:00",
  weekday: 1,
  day: 1,
  expression: "",
};

/** The cron expression. */
export function toCron({ every, minute, time, weekday, day, expression }: Repetition): string {
  const [hours = "0", minutes = "0"] = time.split(":");
  const at = `${Number(minutes)} ${Number(hours)}`;
  switch (every) {
    case "hour":
      return `${minute} * * * *`;
    case "day":
      return `${at} * * *`;
    case "weekdays":
      return `${at} * * 1-5`;
    case "week":
      return `${at} * * ${weekday}`;
    case "month":
      return `${at} ${day} * *`;
    default:
      return expression.trim();
  }
}

const SHAPES: readonly [Repeat, RegExp][] = [
  ["hour", /^(?<minute>\d+) \* \* \* \*$/],
  ["day", /^(?<minute>\d+) (?<hour>\d+) \* \* \*$/],
  ["weekdays", /^(?<minute>\d+) (?<hour>\d+) \* \* 1-5$/],
  ["week", /^(?<minute>\d+) (?<hour>\d+) \* \* (?<weekday>[0-6])$/],
  ["month", /^(?<minute>\d+) (?<hour>\d+) (?<day>\d+) \* \*$/],
];

/** The form of a cron expression; "custom" if it has none of its own. */
export function repetitionOf(cron: string): Repetition {
  const given = { ...USUAL, expression: cron };
  for (const [every, shape] of SHAPES) {
    const match = shape.exec(cron.trim());
    if (!match?.groups) continue;
    const { minute = "0", hour = "0", weekday = "1", day = "1" } = match.groups;
    const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
    return { ...given, every, minute: Number(minute), time, weekday: Number(weekday), day: Number(day) };
  }
  return { ...given, every: "custom" };
}

/** What an expression says. Empty lists: any. */
export interface CronParts {
  /** "HH:MM", or every so many minutes or hours. */
  times: string[];
  everyMinutes: number | null;
  everyHours: { hours: number; minute: number } | null;
  days: number[];
  /** 0 is Sunday. */
  weekdays: number[];
  /** From 1. */
  months: number[];
}

const MOST_TIMES = 6;
const DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The parts of an expression; null for one that is not as simple. */
export function cronParts(cron: string): CronParts | null {
  const [minute, hour, day, month, weekday, ...rest] = cron.trim().toLowerCase().split(/\s+/);
  if (!minute || !hour || !day || !month || !weekday || rest.length > 0) return null;
  const days = values(day, 1, 31);
  const months = values(month, 1, 12, MONTH_NAMES);
  const weekdays = values(weekday, 0, 7, DAY_NAMES);
  const when = timesOf(minute, hour);
  if (!days || !months || !weekdays || !when) return null;
  const sundays = weekdays.map((one) => one % 7);
  return { ...when, days, months, weekdays: [...new Set(sundays)].sort((one, other) => one - other) };
}

function timesOf(
  minute: string,
  hour: string,
): Pick<CronParts, "times" | "everyMinutes" | "everyHours"> | null {
  const every = { times: [], everyMinutes: null, everyHours: null };
  const minuteStep = stepOf(minute);
  if (minuteStep && hour === "*") return { ...every, everyMinutes: minuteStep };
  const minutes = values(minute, 0, 59);
  if (!minutes || minutes.length === 0) return null;
  const hourStep = stepOf(hour);
  if (hourStep && minutes.length === 1)
    return { ...every, everyHours: { hours: hourStep, minute: minutes[0] ?? 0 } };
  const hours = values(hour, 0, 23);
  if (!hours || hours.length === 0 || hours.length * minutes.length > MOST_TIMES) return null;
  const two = (value: number) => String(value).padStart(2, "0");
  return { ...every, times: hours.flatMap((one) => minutes.map((other) => `${two(one)}:${two(other)}`)) };
}

/** 1 for "*", n for "*" with a step of n; else null. */
function stepOf(field: string): number | null {
  const match = /^\*(?:\/([1-9]\d*))?$/.exec(field);
  return match ? Number(match[1] ?? 1) : null;
}

/** The values of a field in order, empty for "*"; null if it is not a list of values and ranges. */
function values(field: string, first: number, last: number, names: readonly string[] = []): number[] | null {
  if (field === "*") return [];
  const all: number[] = [];
  for (const part of field.split(",")) {
    const [from, to, ...rest] = part.split("-").map((one) => numberOf(one, first, names));
    const end = to ?? from;
    if (from === undefined || end === undefined || rest.length > 0) return null;
    if (!(from >= first && end <= last && from <= end)) return null;
    for (let value = from; value <= end; value += 1) all.push(value);
  }
  return [...new Set(all)].sort((one, other) => one - other);
}

function numberOf(text: string, first: number, names: readonly string[]): number {
  const named = names.indexOf(text);
  if (named >= 0) return named + first;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
