// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { NodeDetail } from "@/api/types";
import { DeviceCondition } from "@/features/resources/DeviceCondition";
import { page } from "./dialogs";
import { until } from "./waiting";

type Device = NodeDetail["devices"][number];

const UNKNOWN: Device["metrics"] = {
  utilization_percent: null,
  mem_used_bytes: null,
  mem_total_bytes: null,
  temperature_c: null,
  power_w: null,
  uncorrected_errors: null,
  measured_at: null,
};
const AT = "2026-01-01T12:00:00Z";

const device = (id: string, more: Partial<Device>) =>
  ({ id, healthy: true, problem: "", metrics: UNKNOWN, ...more }) as Device;

/** What is shown of a device, line by line. */
async function linesOf(one: Device): Promise<string[]> {
  const shown = page();
  shown.show(
    <article>
      <DeviceCondition device={one} />
      <footer />
    </article>,
  );
  await until(() => expect(document.querySelector("footer")).not.toBeNull());
  const parts = [...document.querySelectorAll("article > :not(dl, footer), dl > div")];
  const lines = parts.map((part) =>
    [...part.childNodes]
      .map(({ textContent }) => textContent)
      .join(" ")
      .trim(),
  );
  shown.close();
  return lines;
}

test("what is measured of a device is shown, and only that", async () => {
  const metrics = {
    utilization_percent: 79.6,
    mem_used_bytes: 10 * 2 ** 30,
    mem_total_bytes: 80 * 2 ** 30,
    temperature_c: 61.4,
    power_w: null,
    uncorrected_errors: 0,
    measured_at: AT,
  };
  expect(await linesOf(device("a", { metrics }))).toEqual([
    "Utilization 80%",
    "Memory 10 GiB of 80 GiB",
    "Temperature 61 °C",
    "Memory errors 0",
  ]);
  expect(await linesOf(device("a", {}))).toEqual([]);
});

test("a device that is out of order says why", async () => {
  const lines = await linesOf(device("b", { healthy: false, problem: "It fell off the bus." }));
  expect(lines).toEqual(["Out of order", "It fell off the bus."]);
});

test("old measurements are not shown, but when they were taken", async () => {
  const [line] = await linesOf(device("c", { metrics: { ...UNKNOWN, measured_at: AT } }));
  expect(line).toMatch(/^Last measured .*2026/);
});
