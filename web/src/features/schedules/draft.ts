import type { Schedule } from "@/api/types";
import type { Repetition } from "./cron";

/** A schedule as its form holds it. text: the definition of its sessions in YAML. */
export type ScheduleDraft = Pick<Schedule, "name" | "timezone" | "missed" | "overlap"> & {
  cron: Repetition;
  text: string;
};

/** A new schedule is kept in this tab: its definition may hold secrets, and does not belong in a link. */
const KEY = "carrel.schedule.draft";

/** What was kept of a new schedule. */
export function keptDraft(): Partial<ScheduleDraft> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

/** Keeps a part of a new schedule besides what is kept of it. */
export function keepDraft(part: Partial<ScheduleDraft>): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...keptDraft(), ...part }));
  } catch {
    // Without storage, it lasts until the page is closed.
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
