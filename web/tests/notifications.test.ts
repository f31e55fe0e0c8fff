import { expect, test } from "vitest";
import type { Session } from "@/api/types";
import { notificationKindOf } from "@/live/notification-kinds";

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

test("a disk that is nearly full is reported once, and other warnings are not", () => {
  const full = { id: "a", warnings: ["disk_nearly_full"] };
  const fine = { ...before, warnings: [] as string[] };
  expect(notificationKindOf({ before: fine, after: full })).toBe("about_to_end");
  expect(notificationKindOf({ before: { ...fine, ...full } as Session, after: full })).toBeNull();
  expect(notificationKindOf({ before: fine, after: { id: "a", warnings: ["out_of_memory"] } })).toBeNull();
});

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
