// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { NetworkCheck, SessionDetail } from "@/api/types";
import { formatShort, mayHaveNetwork } from "@/features/sessions/detail/network-words";
import { SessionNetwork } from "@/features/sessions/detail/SessionNetwork";
import { page, refused, serving } from "./dialogs";
import { until } from "./waiting";

const CHECK: NetworkCheck = {
  code: "network.measured",
  message: "",
  hint: "",
  at: "2026-01-01T12:00:00Z",
  took_s: 4,
  method: "tcp",
  lack: "no_torch",
  participants: 2,
  latency_s: 0.000083,
  paths: [
    { sender: "main1", receiver: "sub1", transport: "tcp", interface: "eth0", detail: "" },
    { sender: "sub1", receiver: "main1", transport: "p2p", interface: null, detail: "P2P/CUMEM" },
  ],
  messages: [
    { size_bytes: 2 ** 20, count: 4, seconds: 0.0042, bytes_per_s: 2 ** 28, bus_bytes_per_s: 2 ** 28 },
  ],
};
const session = (more: Partial<SessionDetail> = {}) =>
  ({ id: "s1", state: "RUNNING", cluster_size: 2, slots: {}, ...more }) as SessionDetail;

const rows = () =>
  [...document.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("th, td")].map(({ textContent }) => textContent),
  );
const measure = () => document.querySelector<HTMLButtonElement>("button:not([aria-label])");

test("a check is started, and its result shown with the path and the speed", async () => {
  let last: NetworkCheck | null = null;
  const asked = serving(({ method }) => {
    if (method === "POST") last = CHECK;
    return method === "POST" ? CHECK : { running: false, last };
  });
  const shown = page();
  shown.show(<SessionNetwork session={session()} usable />);
  await until(() => expect(measure()?.textContent).toBe("Measure"));
  measure()?.click();
  await until(() => expect(rows()).toHaveLength(3));
  expect(asked.find(({ method }) => method === "POST")?.path).toBe("/sessions/s1/network-check");
  expect(rows()).toEqual([
    ["main1", "sub1", "TCP", "eth0"],
    ["sub1", "main1", "Direct, between acceleratorsP2P/CUMEM", "–"],
    ["1 MiB", "4.2 ms", "256 MiB/s", "256 MiB/s"],
  ]);
  expect(document.body.textContent).toContain("Latency 83 μs");
  expect(document.body.textContent).toContain("The Python in the image has no PyTorch.");
  expect(measure()?.textContent).toBe("Measure again");
  shown.close();
});

test("a refusal says why", async () => {
  serving(({ method }) =>
    method === "POST"
      ? refused(409, "network.busy", "It is being measured.")
      : { running: false, last: null },
  );
  const shown = page();
  shown.show(<SessionNetwork session={session()} usable />);
  await until(() => expect(measure()).not.toBeNull());
  measure()?.click();
  await until(() => expect(document.querySelector("[role=alert]")?.textContent).toContain("network.busy"));
  shown.close();
});

test("those who only look see the last result, also a failure, and no button", async () => {
  const failed = {
    ...CHECK,
    code: "network.no_python",
    message: "No Python.",
    method: null,
    paths: [],
    messages: [],
  };
  serving(() => ({ running: false, last: failed }));
  const shown = page();
  shown.show(<SessionNetwork session={session()} usable={false} />);
  await until(() => expect(document.querySelector("[role=alert]")?.textContent).toContain("No Python."));
  expect(measure()).toBeNull();
  shown.close();
});

test("there is a network between containers, and between whole accelerators", () => {
  expect(mayHaveNetwork(session())).toBe(true);
  expect(mayHaveNetwork(session({ cluster_size: 1, slots: { "cuda.device": 2 } }))).toBe(true);
  expect(mayHaveNetwork(session({ cluster_size: 1, slots: { "cuda.device": 1, "cuda.shares": 500 } }))).toBe(
    false,
  );
});

test("short times have a unit that shows them", () => {
  expect([2e-6, 0.0123, 1.25].map((one) => formatShort(one, "en"))).toEqual(["2 μs", "12.3 ms", "1.3 sec"]);
});
