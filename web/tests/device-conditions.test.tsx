// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { NodeDetail } from "@/api/types";
import { DeviceConditions } from "@/features/resources/DeviceConditions";
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

/** The cells of each row. */
async function rowsOf(devices: Device[]): Promise<string[][]> {
  const shown = page();
  shown.show(<DeviceConditions devices={devices} />);
  await until(() => expect(document.querySelectorAll("tbody tr")).toHaveLength(devices.length));
  const rows = [...document.querySelectorAll("tr")].map((row) =>
    [...row.querySelectorAll("th, td")].map(({ textContent }) => textContent ?? ""),
  );
  shown.close();
  return rows;
}

test("a device shows its condition, and what is measured of it", async () => {
  const metrics = {
    utilization_percent: 79.6,
    mem_used_bytes: 10 * 2 ** 30,
    mem_total_bytes: 80 * 2 ** 30,
    temperature_c: 61.4,
    power_w: null,
    uncorrected_errors: 0,
    measured_at: AT,
  };
  const [, first, second, third] = await rowsOf([
    device("a", { metrics }),
    device("b", { healthy: false, problem: "It fell off the bus." }),
    device("c", { metrics: { ...UNKNOWN, measured_at: AT } }),
  ]);
  expect(first).toEqual(["a", "Healthy", "80%", "10 GiB of 80 GiB", "61 °C", "–", "0"]);
  expect(second).toEqual(["b", "Out of orderIt fell off the bus.", "–", "–", "–", "–", "–"]);
  expect(third?.[1]).toMatch(/^HealthyLast measured .*2026/);
});

test("without any measurement there are no columns for them", async () => {
  const [head, row] = await rowsOf([device("a", {})]);
  expect(head).toEqual(["Device", "Condition"]);
  expect(row).toEqual(["a", "Healthy"]);
});
