import { hasEnded } from "@/api/session-states";
import type { NotificationChoices, NotificationKind } from "@/api/types";
import type { Transition } from "./apply";

/** Warnings that announce the end of a session. */
const WARNINGS = ["disk_nearly_full", "node_leaving"];

/** The kind of notification that a change is; null for other changes. As the server has it for mail and webhooks. */
export function notificationKindOf({
  before,
  after,
}: Pick<Transition, "before" | "after">): NotificationKind | null {
  if (after.idle_ends_at && !before?.idle_ends_at) return "about_to_end";
  if (after.limit_ends_at && !isSame(after.limit_ends_at, before?.limit_ends_at)) return "about_to_end";
  const isNew = (warning: string) =>
    after.warnings?.includes(warning) && !before?.warnings?.includes(warning);
  if (before && WARNINGS.some(isNew)) return "about_to_end";
  if (!after.state || after.state === before?.state) return null;
  if (after.state === "RUNNING") return "started";
  if (!hasEnded(after.state)) return null;
  const failed = after.state === "ERROR" || after.result === "failure" || after.result === "timed_out";
  return failed ? "failed" : "ended";
}

/** Whether two texts are the same instant. */
const isSame = (one: string, other: string | null | undefined): boolean =>
  Date.parse(one) === Date.parse(other ?? "");

/** Shows a notification of the system, if the user permitted it. A tag makes one of the same in several tabs. */
export function showInSystem(session: string, title: string, body: string, onClick: () => unknown): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const shown = new Notification(title, { body, tag: session });
  shown.onclick = () => {
    window.focus();
    shown.close();
    onClick();
  };
}

const LOCK = "carrel.notifications";
let release: (() => void) | null = null;

/**
 * Whether this hidden tab keeps its event stream, to show notifications of the system: one tab of the browser does,
 * if the user has chosen and permitted any.
 */
export async function keepsStream(chosen: NotificationChoices | undefined): Promise<boolean> {
  const any = Object.values(chosen ?? {}).some((channels) => channels.includes("browser"));
  if (!any || !("locks" in navigator) || Notification.permission !== "granted") return false;
  return new Promise((resolve) => {
    void navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise<void>((done) => (release = done));
    });
  });
}

/** Lets another hidden tab keep its stream. */
export function releaseStream(): void {
  release?.();
  release = null;
}
