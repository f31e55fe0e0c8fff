import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Me } from "@/api/types";
import type { SessionPages } from "@/cache/patch";
import { usageFeed } from "@/cache/usage";
import { applyEvent, concernsUser, LEAVES_AFTER_MS, type LiveChange } from "@/live/apply";
import { pendingCreates } from "@/queries/sessions";
import { aDetail, aSession, ids, LIVE, pagesOf } from "./sessions";

const shown = vi.hoisted(() => vi.fn());
vi.mock("@/api/generated/sdk.gen", () => ({ sessionsShow: shown }));

const ENDED = { ...LIVE, state: "ended" as const };
const key = (filter: object) => ["sessions", "list", filter];
let client: QueryClient;
const listed = (filter: object) => ids(client.getQueryData<SessionPages>(key(filter)) as SessionPages);

beforeEach(() => {
  vi.useFakeTimers();
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(key(LIVE), pagesOf([[aSession("a")]]));
  client.setQueryData(key(ENDED), pagesOf([[]]));
  shown.mockReset();
});

// What is to be refreshed is remembered until then.
afterEach(() => vi.advanceTimersByTimeAsync(10_000));

test("an ended session enters the lists of ended ones without a question to the server, and leaves the live ones", async () => {
  const transition = await applyEvent(
    client,
    { kind: "session.updated", data: { id: "a", state: "TERMINATED" } },
    "me",
  );
  expect(listed(ENDED)).toEqual([["a"]]);
  expect(listed(LIVE)).toEqual([["a"]]);
  vi.advanceTimersByTime(LEAVES_AFTER_MS);
  expect(listed(LIVE)).toEqual([[]]);
  expect(listed(ENDED)).toEqual([["a"]]);
  expect(transition).toMatchObject({
    before: { state: "RUNNING" },
    after: { state: "TERMINATED" },
    owner: "me",
  });
  expect(shown).not.toHaveBeenCalled();
});

test("a session started elsewhere is asked for once and put on top", async () => {
  shown.mockResolvedValue({ data: aSession("new", { created_at: "2026-01-02T00:00:00Z" }) });
  await applyEvent(client, { kind: "session.created", data: { id: "new", state: "PENDING" } }, "me");
  expect(listed(LIVE)).toEqual([["new", "a"]]);
  expect(shown).toHaveBeenCalledTimes(1);
});

test("somebody else's session stays out of one's own list", async () => {
  shown.mockResolvedValue({ data: aSession("new", { owner: { id: "other", email: "o@example.org" } }) });
  await applyEvent(client, { kind: "session.created", data: { id: "new", state: "PENDING" } }, "me");
  expect(listed(LIVE)).toEqual([["a"]]);
});

test("the event about our own request waits for the answer to it, and asks nothing", async () => {
  let answer: () => void = () => {};
  const request = new Promise<void>((resolve) => {
    answer = resolve;
  });
  pendingCreates.add(request);
  const applied = applyEvent(
    client,
    { kind: "session.created", data: { id: "own", state: "PENDING" } },
    "me",
  );
  client.setQueryData(["sessions", "show", "own"], aSession("own", { created_at: "2026-01-02T00:00:00Z" }));
  answer();
  pendingCreates.delete(request);
  await applied;
  expect(shown).not.toHaveBeenCalled();
  expect(listed(LIVE)).toEqual([["own", "a"]]);
});

test("readings go to the sparklines alone", async () => {
  const before = client.getQueryData(key(LIVE));
  for (const cpu_millis of [100, 200]) {
    await applyEvent(
      client,
      { kind: "usage", data: { a: { cpu_millis, mem_bytes: 5, accelerator_percent: null } } },
      "me",
    );
  }
  expect(usageFeed.of("a")).toEqual({
    cpu_millis: [100, 200],
    mem_bytes: [5, 5],
    accelerator_percent: [null, null],
  });
  expect(client.getQueryData(key(LIVE))).toBe(before);
});

test("a detail asked for by name is as live as one asked for by id, and no other is touched", async () => {
  const other = aSession("b");
  client.setQueryData(["sessions", "show", "name-a"], aSession("a"));
  client.setQueryData(["sessions", "show", "b"], other);
  await applyEvent(
    client,
    { kind: "session.updated", data: { id: "a", state: "ERROR", reason: "gone" } },
    "me",
  );
  expect(client.getQueryData(["sessions", "show", "name-a"])).toMatchObject({
    state: "ERROR",
    reason: "gone",
  });
  expect(client.getQueryData(["sessions", "show", "b"])).toBe(other);
});

test("the details of a session that starts after it are fetched again, with its state", async () => {
  const needed = {
    id: "a",
    name: "name-a",
    array: null,
    condition: "ended" as const,
    state: "RUNNING" as const,
  };
  const later = aDetail("later", { after: [{ ...needed, result: null, met: null }] });
  client.setQueryData(["sessions", "show", "later"], later);
  client.setQueryData(["sessions", "show", "free"], aDetail("free"));
  await applyEvent(client, { kind: "session.updated", data: { id: "a", state: "ERROR" } }, "me");
  const stale = (id: string) => client.getQueryState(["sessions", "show", id])?.isInvalidated;
  expect([stale("later"), stale("free")]).toEqual([true, false]);
});

test("users hear of what others newly share with them or with a project of theirs", async () => {
  const me = { user: { id: "me", email: "me@x.org", preferences: {} }, projects: [{ id: "p" }] } as Me;
  const shared = async (data: object) => {
    const event = {
      kind: "session.shared",
      data: { id: "a", name: "desk", user: null, project: null, ...data },
    };
    const change = await applyEvent(client, event, "me");
    return change && concernsUser(change, me);
  };
  expect(await shared({ by: "ada@x.org", user: "me" })).toBe(true);
  expect(await shared({ by: "ada@x.org", project: "p" })).toBe(true);
  expect(await shared({ by: "ada@x.org", user: "other" })).toBe(false);
  expect(await shared({ by: "ada@x.org", project: "q" })).toBe(false);
  expect(await shared({ by: "me@x.org", project: "p" })).toBe(false);
  expect(await shared({ by: null, user: "me" })).toBe(false);
});

test("users hear of their own sessions, and of others only by preference", () => {
  const person = (notifications: "own" | "all" | null) =>
    ({ user: { id: "me", preferences: { notifications } } }) as Me;
  const of = (owner: string | undefined) => ({ owner, before: undefined, after: { id: "a" } }) as LiveChange;
  expect(concernsUser(of("me"), person(null))).toBe(true);
  expect(concernsUser(of("other"), person(null))).toBe(false);
  expect(concernsUser(of("other"), person("own"))).toBe(false);
  expect(concernsUser(of(undefined), person(null))).toBe(false);
  expect(concernsUser(of("other"), person("all"))).toBe(true);
});

test("sessions are counted anew when one is no longer shared", async () => {
  const queryFn = vi.fn(async () => ({}));
  const stop = new QueryObserver(client, { queryKey: ["session-counts", LIVE], queryFn }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(5_000);
  await applyEvent(client, { kind: "session.unshared", data: { id: "a" } }, "me");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(queryFn).toHaveBeenCalledTimes(2);
  stop();
});

test("an accelerator that gets out of order is for a toast, and nodes are fetched again", async () => {
  client.setQueryData(["nodes", "show", "n1"], {});
  const data = { id: "n1", name: "gpu-1", device: "GPU-1", model: "H100", problem: "It is hot." };
  const event = { kind: "node.device_unhealthy", object: { kind: "node", id: "n1" }, data };
  expect(await applyEvent(client, event, "me")).toEqual({ device: { ...data, kind: "device_out_of_order" } });
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.getQueryState(["nodes", "show", "n1"])?.isInvalidated).toBe(true);
  expect(await applyEvent(client, { ...event, kind: "node.device_healthy" }, "me")).toEqual({
    device: { ...data, kind: "device_back" },
  });
});
