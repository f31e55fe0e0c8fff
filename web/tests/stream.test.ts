import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { EVENT_KINDS, EventStream, type LiveEvent, type Source, type StreamState } from "@/live/stream";

class FakeSource implements Source {
  readyState = 0;
  onopen: Source["onopen"] = null;
  onerror: Source["onerror"] = null;
  closed = false;
  private readonly listeners = new Map<string, (event: MessageEvent<string>) => void>();
  constructor(readonly url: string) {}
  addEventListener(kind: string, listener: (event: MessageEvent<string>) => void) {
    this.listeners.set(kind, listener);
  }
  close() {
    this.closed = true;
  }
  open() {
    this.readyState = 1;
    this.onopen?.(new Event("open"));
  }
  fail(readyState: number) {
    this.readyState = readyState;
    this.onerror?.(new Event("error"));
  }
  frame(kind: string, data: object, lastEventId = "") {
    this.listeners.get(kind)?.({ data: JSON.stringify(data), lastEventId } as MessageEvent<string>);
  }
}

let sources: FakeSource[];
let timers: { callback: () => void; delayMs: number }[];
let states: StreamState[];
let events: LiveEvent[];
let stream: EventStream;
const source = () => sources.at(-1) as FakeSource;

beforeEach(() => {
  [sources, timers, states, events] = [[], [], [], []];
  stream = new EventStream({
    url: "/events?follow=true",
    onState: (state) => states.push(state),
    onEvent: (event) => events.push(event),
    open: (url) => {
      sources.push(new FakeSource(url));
      return source();
    },
    later: (callback, delayMs) => timers.push({ callback, delayMs }),
  });
});

test("every kind of event that the server tells is listened to", () => {
  const told = readFileSync("../docs/reference/events.md", "utf8").matchAll(/^\| `([a-z_.]+)` \|/gm);
  expect([...told].map(([, kind]) => kind).sort()).toEqual([...EVENT_KINDS].sort());
});

test("a frame is handed on with its kind and what it says", () => {
  source().open();
  source().frame(
    "session.updated",
    { id: "7", kind: "session.updated", object: { kind: "session", id: "a" }, data: { id: "a" } },
    "7",
  );
  source().frame("usage", { kind: "usage", data: { a: { cpu_millis: 1, mem_bytes: 2 } } });
  expect(events.map((event) => [event.kind, event.data])).toEqual([
    ["session.updated", { id: "a" }],
    ["usage", { a: { cpu_millis: 1, mem_bytes: 2 } }],
  ]);
});

test("a refused connection is opened anew after the last event seen, later each time", () => {
  source().open();
  source().frame("session.updated", { data: {} }, "41");
  source().frame("usage", { data: {} });
  source().fail(2);
  expect(states.at(-1)).toBe("reconnecting");
  timers.shift()?.callback();
  expect(source().url).toBe("/events?follow=true&last_event_id=41");
  source().fail(2);
  source().fail(2);
  expect(timers[1]?.delayMs).toBeGreaterThan(timers[0]?.delayMs as number);
});

test("while the browser retries by itself nothing else is opened", () => {
  source().open();
  source().fail(0);
  expect(states.at(-1)).toBe("reconnecting");
  expect(timers).toEqual([]);
  source().open();
  expect(states.at(-1)).toBe("open");
});

test("the network's return opens it at once, and the wait that was cut short opens nothing", () => {
  source().fail(2);
  stream.retry();
  expect(sources.length).toBe(2);
  timers.shift()?.callback();
  expect(sources.length).toBe(2);
});

test("nothing is opened after it was closed", () => {
  source().fail(2);
  stream.close();
  timers.shift()?.callback();
  expect(sources.length).toBe(1);
  expect(source().closed).toBe(true);
});

test("a hidden page lets go of its connection and later resumes where it was", () => {
  source().open();
  source().frame("session.updated", { data: {} }, "12");
  stream.pause();
  expect(source().closed).toBe(true);
  stream.retry();
  expect(source().url).toContain("last_event_id=12");
});
