import { beforeEach, describe, expect, test } from "vitest";
import { type LinkState, TerminalLink, type Wire } from "@/features/terminal/link";

class FakeWire implements Wire {
  binaryType: BinaryType = "blob";
  readyState = 1;
  bufferedAmount = 0;
  onmessage: Wire["onmessage"] = null;
  onclose: Wire["onclose"] = null;
  sent: (string | Uint8Array)[] = [];
  closed = false;
  constructor(readonly url: URL) {}
  send(frame: string | Uint8Array<ArrayBuffer>) {
    this.sent.push(frame);
    if (typeof frame !== "string") this.bufferedAmount += frame.length;
  }
  close() {
    this.closed = true;
    this.readyState = 3;
  }
  say(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) } as MessageEvent);
  }
  output(text: string) {
    this.onmessage?.({ data: new TextEncoder().encode(text).buffer } as MessageEvent);
  }
  drop(code = 1006, reason = "") {
    this.readyState = 3;
    this.onclose?.({ code, reason } as CloseEvent);
  }
  get bytesSent(): number {
    return this.sent.reduce((sum, frame) => sum + (typeof frame === "string" ? 0 : frame.length), 0);
  }
}

let wires: FakeWire[];
let timers: (() => void)[];
let states: LinkState[];
let seen: string;
let gaps: number[];
let fresh: number;
let kept: (string | null)[];
let link: TerminalLink;
const wire = () => wires.at(-1) as FakeWire;
const runTimers = () => {
  for (const timer of timers.splice(0)) timer();
};

const opened = (resume?: string) =>
  new TerminalLink({
    resume,
    onTerminal: (terminal) => kept.push(terminal),
    address: "ws://server/terminal",
    size: () => ({ cols: 80, rows: 24 }),
    onOutput: (bytes) => {
      seen += new TextDecoder().decode(bytes);
    },
    onState: (state) => states.push(state),
    onGap: (bytes) => gaps.push(bytes),
    onFresh: () => {
      fresh += 1;
    },
    open: (url) => {
      wires.push(new FakeWire(new URL(url)));
      return wire();
    },
    later: (callback) => timers.push(callback),
  });

beforeEach(() => {
  [wires, timers, states, seen, gaps, fresh, kept] = [[], [], [], "", [], 0, []];
  link = opened();
});

const ready = (offset: number, terminal = "t1") => wire().say({ type: "ready", terminal, offset });

describe("after a break", () => {
  beforeEach(() => {
    ready(0);
    wire().output("hello ");
    wire().output("wörld");
    wire().drop();
  });

  test("it asks for the same terminal from the byte it came to, counting bytes and not characters", () => {
    expect(states.at(-1)).toEqual({ kind: "reconnecting", attempt: 1 });
    runTimers();
    expect(wire().url.searchParams.get("terminal")).toBe("t1");
    expect(wire().url.searchParams.get("offset")).toBe("12");
  });

  test("what was missed is shown once, also when the server goes back further than asked", () => {
    runTimers();
    ready(6);
    wire().output("wörld");
    wire().output("!");
    expect(seen).toBe("hello wörld!");
    expect(gaps).toEqual([]);
  });

  test("it says how much is missing when the server no longer has it, and counts on from there", () => {
    runTimers();
    ready(1000);
    wire().output("later");
    expect(gaps).toEqual([988]);
    wire().drop();
    runTimers();
    expect(wire().url.searchParams.get("offset")).toBe("1005");
  });

  test("a terminal that is gone starts afresh from byte 0", () => {
    runTimers();
    wire().say({ type: "gone" });
    ready(0, "t2");
    wire().output("$ ");
    expect(fresh).toBe(1);
    expect(gaps).toEqual([]);
    wire().drop();
    runTimers();
    expect(wire().url.searchParams.get("terminal")).toBe("t2");
    expect(wire().url.searchParams.get("offset")).toBe("2");
  });

  test("typing is not taken until the line is back", () => {
    expect(link.send("lost")).toBe(false);
    runTimers();
    expect(link.send("still lost")).toBe(false);
    ready(12);
    expect(link.send("taken")).toBe(true);
    expect(wire().bytesSent).toBe(5);
  });

  test("it waits longer each time, and the network's return cuts the wait short", () => {
    runTimers();
    wire().drop();
    expect(states.at(-1)).toEqual({ kind: "reconnecting", attempt: 2 });
    const before = wires.length;
    link.networkChanged(true);
    expect(wires.length).toBe(before + 1);
    // The wait that was cut short must not open a second line later.
    runTimers();
    expect(wires.length).toBe(before + 1);
  });

  test("is given up at once when the network goes, though its end is never told", () => {
    runTimers();
    ready(0);
    const silent = wire();
    link.networkChanged(false);
    expect(silent.closed).toBe(true);
    expect(states.at(-1)).toEqual({ kind: "reconnecting", attempt: 1 });
    link.networkChanged(true);
    expect(wire()).not.toBe(silent);
  });
});

describe("a long paste", () => {
  const PASTE = 1_000_000;

  beforeEach(() => {
    ready(0);
    link.send("x".repeat(PASTE));
  });

  test("is sent in small chunks and only as fast as the line takes it", () => {
    expect(wire().bytesSent).toBeLessThan(100_000);
    runTimers();
    expect(wire().bytesSent).toBeLessThan(100_000);
    while (wire().bytesSent < PASTE) {
      const before = wire().bytesSent;
      wire().bufferedAmount = 0;
      runTimers();
      expect(wire().bytesSent).toBeGreaterThan(before);
    }
    expect(wire().bytesSent).toBe(PASTE);
    const chunks = wire().sent.filter((frame) => typeof frame !== "string");
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(16 * 1024);
  });

  test("goes on where it was after a break", () => {
    const first = wire().bytesSent;
    wire().drop();
    runTimers();
    ready(0);
    for (let round = 0; round < 100; round += 1) {
      wire().bufferedAmount = 0;
      runTimers();
    }
    expect(first + wire().bytesSent).toBe(PASTE);
  });

  test("can be stopped", () => {
    const sent = wire().bytesSent;
    link.dropPending();
    wire().bufferedAmount = 0;
    runTimers();
    expect(wire().bytesSent).toBe(sent);
  });
});

describe("the end", () => {
  test("an exit is final: its code is told and nothing is opened again", () => {
    ready(0);
    wire().say({ type: "exit", code: 3 });
    wire().drop(1000);
    runTimers();
    expect(states.at(-1)).toEqual({ kind: "exited", code: 3 });
    expect(wires.length).toBe(1);
  });

  test("a refusal is told in the server's own words and not tried again", () => {
    wire().drop(4409, JSON.stringify({ code: "session.not_running", detail: "It is not running." }));
    runTimers();
    expect(states.at(-1)).toEqual({
      kind: "refused",
      code: "session.not_running",
      detail: "It is not running.",
    });
    expect(wires.length).toBe(1);
  });

  test("closing the page closes the line and opens none", () => {
    ready(0);
    link.close();
    wire().drop();
    runTimers();
    expect(wires[0]?.closed).toBe(true);
    expect(wires.length).toBe(1);
  });
});

test("a window that changed its size while the line was down is told after it is back", () => {
  ready(0);
  link.resize(100, 30);
  expect(wire().sent).toContain('{"type":"resize","cols":100,"rows":30}');
  wire().drop();
  link.resize(120, 40);
  runTimers();
  ready(0);
  expect(wire().sent).toEqual(['{"type":"resize","cols":80,"rows":24}']);
});

describe("a page that is loaded again", () => {
  test("goes on with its shell from the oldest output there is, and misses nothing by that", () => {
    ready(0);
    expect(kept).toEqual(["t1"]);
    const again = opened("t1");
    expect(wire().url.searchParams.get("terminal")).toBe("t1");
    expect(wire().url.searchParams.has("offset")).toBe(false);
    expect(again.send("too early")).toBe(false);
    ready(5000);
    wire().output("$ ");
    expect([seen, gaps]).toEqual(["$ ", []]);
    wire().drop();
    runTimers();
    expect(wire().url.searchParams.get("offset")).toBe("5002");
  });

  test("forgets a shell that has ended", () => {
    ready(0);
    wire().say({ type: "exit", code: 0 });
    expect(kept.at(-1)).toBeNull();
  });
});
