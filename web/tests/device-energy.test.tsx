// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { DeviceEnergy } from "@/features/sessions/detail/DeviceEnergy";
import { page } from "./dialogs";
import { until } from "./waiting";

test("the energy of each device is shown with their sum", async () => {
  const shown = page();
  shown.show(
    <DeviceEnergy
      energy={[
        { device: "GPU-0", model: "H100", energy_kwh: 1.25, power_hours: 2 },
        { device: "GPU-1", model: "", energy_kwh: 0.5, power_hours: 1.5 },
      ]}
    />,
  );
  await until(() => expect(document.querySelectorAll("tbody tr")).toHaveLength(2));
  expect(document.body.textContent).toContain("1.75 kWh since the session started");
  const cells = [...document.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map(({ textContent }) => textContent),
  );
  expect(cells).toEqual([
    ["H100GPU-0", "1.25 kWh", "2"],
    ["GPU-1", "0.5 kWh", "1.5"],
  ]);
  shown.close();
});

test("energy that is not measured is not zero", async () => {
  const shown = page();
  shown.show(<DeviceEnergy energy={[]} />);
  await until(() => expect(document.body.textContent).toContain("Not measured"));
  expect(document.body.textContent).not.toContain("kWh");
  shown.close();
});
