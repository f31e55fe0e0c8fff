// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { AcceleratorCheck } from "@/api/types";
import { CheckResults } from "@/features/resources/CheckResults";
import { page } from "./dialogs";
import { until } from "./waiting";

type Result = AcceleratorCheck["results"][number];

const result: Result = {
  device: "GPU-1",
  model: "NVIDIA H100",
  family: "cuda",
  outcome: "failed",
  files: ["/dev/nvidia0"],
  variables: {},
  measures: [{ name: "granted", outcome: "passed", text: "The container has device files: /dev/nvidia0." }],
  shares: [
    {
      thousandths: 250,
      outcome: "failed",
      limit_bytes: 20 * 2 ** 30,
      allocated_bytes: 80 * 2 ** 30,
      neighbour_loss_percent: 48.5,
      text: "The driver gave it more memory than its share.",
    },
    {
      thousandths: 500,
      outcome: "not_measured",
      limit_bytes: 40 * 2 ** 30,
      allocated_bytes: null,
      neighbour_loss_percent: null,
      text: "The image has no Python 3.",
    },
  ],
};

test("results show what was measured, and for the rest only why it was not", async () => {
  const shown = page();
  const passed: Result = { ...result, device: "GPU-2", outcome: "passed", shares: [] };
  shown.show(<CheckResults results={[result, passed]} />);
  await until(() => expect(document.querySelectorAll("details")).toHaveLength(2));
  const devices = [...document.querySelectorAll("details")].map((device) => [
    device.open,
    ...[...device.querySelectorAll("p")].map(({ textContent }) => textContent),
  ]);
  shown.close();
  const attached = ["Attached", "The container has device files: /dev/nvidia0."];
  expect(devices).toEqual([
    [
      ...[true, "GPU-1", ...attached, "0.25 of it"],
      "It got 80 GiB of memory; its share is 20 GiB. The neighbor computed 48.5 % slower." +
        " The driver gave it more memory than its share.",
      ...["0.5 of it", "The image has no Python 3."],
    ],
    [false, "GPU-2", ...attached],
  ]);
});
