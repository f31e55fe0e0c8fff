import { afterEach, expect, test, vi } from "vitest";
import type { NotificationChoices, Session } from "@/api/types";
import { keepsStream, notificationKindOf, releaseStream, showInSystem } from "@/live/notification-kinds";

const before = { state: "STARTING", idle_ends_at: null } as Session;

test.each([
  [{ state: "RUNNING" }, "started"],
  [{ state: "TERMINATED" }, "ended"],
  [{ state: "CANCELLED" }, "ended"],
  [{ state: "TERMINATED", result: "success" }, "ended"],
  [{ state: "TERMINATED", result: "failure" }, "failed"],
  [{ state: "TERMINATED", result: "timed_out" }, "failed"],
  [{ state: "ERROR" }, "failed"],
  [{ state: "STARTING", idle_ends_at: "2026-01-01T12:00:00Z" }, "about_to_end"],
  [{ state: "STARTING", limit_ends_at: "2026-01-01T12:00:00Z" }, "about_to_end"],
  [{ state: "STARTING", reason: "pulling" }, null],
  [{ state: "TERMINATING" }, null],
] as const)("the change to %o is %s", (change, kind) => {
  expect(notificationKindOf({ before, after: { id: "a", ...change } })).toBe(kind);
});

test.each(["disk_nearly_full", "node_leaving"])(
  "the warning %s is reported once, and others are not",
  (warning) => {
    const full = { id: "a", warnings: [warning] };
    const fine = { ...before, warnings: [] as string[] };
    expect(notificationKindOf({ before: fine, after: full })).toBe("about_to_end");
    expect(notificationKindOf({ before: { ...fine, ...full } as Session, after: full })).toBeNull();
    expect(notificationKindOf({ before: fine, after: { id: "a", warnings: ["out_of_memory"] } })).toBeNull();
  },
);

test("a warning is reported once", () => {
  const warned = { ...before, state: "RUNNING", idle_ends_at: "2026-01-01T12:00:00Z" } as Session;
  expect(
    notificationKindOf({ before: warned, after: { id: "a", idle_ends_at: "2026-01-01T12:01:00Z" } }),
  ).toBeNull();
  const limited = { ...before, state: "RUNNING", limit_ends_at: "2026-01-01T12:00:00Z" } as Session;
  const again = { id: "a", limit_ends_at: "2026-01-01T12:00:00+00:00" };
  expect(notificationKindOf({ before: limited, after: again })).toBeNull();
  expect(
    notificationKindOf({ before: limited, after: { ...again, limit_ends_at: "2026-01-01T13:00:00Z" } }),
  ).toBe("about_to_end");
});

afterEach(() => {
  releaseStream();
  vi.unstubAllGlobals();
});

const CHOSEN: NotificationChoices = {
  started: ["page"],
  ended: [],
  failed: ["page", "browser"],
  about_to_end: [],
  shared: [],
  device_out_of_order: [],
  device_back: [],
};

/** Browser with this permission, whose lock is held by another tab or free; returns the notifications shown. */
function browser(permission: NotificationPermission, lockIsFree = true): string[] {
  const shown: string[] = [];
  class Shown {
    static permission = permission;
    onclick = null;
    constructor(title: string) {
      shown.push(title);
    }
  }
  vi.stubGlobal("Notification", Shown);
  vi.stubGlobal("window", { Notification: Shown });
  const request = (_: string, __: object, use: (lock: object | null) => unknown) =>
    use(lockIsFree ? {} : null);
  vi.stubGlobal("navigator", { locks: { request } });
  return shown;
}

test("a tab in the background keeps its stream for notifications of the browser, one of several", async () => {
  browser("granted");
  expect(await keepsStream(CHOSEN)).toBe(true);
  expect(await keepsStream({ ...CHOSEN, failed: ["page", "mail"] })).toBe(false);
  browser("granted", false);
  expect(await keepsStream(CHOSEN)).toBe(false);
  browser("denied");
  expect(await keepsStream(CHOSEN)).toBe(false);
});

test("a notification of the browser needs the permission, not the tab to be shown", () => {
  const shown = browser("granted");
  vi.stubGlobal("document", { visibilityState: "hidden" });
  showInSystem("a", "train failed", "", () => undefined);
  expect(shown).toEqual(["train failed"]);
  expect(browser("default")).toEqual([]);
  showInSystem("a", "train failed", "", () => undefined);
  expect(shown).toEqual(["train failed"]);
});
