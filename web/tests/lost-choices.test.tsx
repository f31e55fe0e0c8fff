// @vitest-environment happy-dom
import type { UseFormReturnType } from "@mantine/form";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { Problem } from "@/api/problem";
import type { LaunchForm } from "@/features/sessions/launcher/request";
import { type LostGroups, useLostChoices } from "@/features/sessions/launcher/use-lost-choices";

vi.hoisted(() => Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true }));

const refused = (field: string, groups?: string[]) =>
  new Problem({ status: 404, code: "group.not_found", detail: "", field, details: groups ? { groups } : {} });

interface Props {
  error: Problem;
  form: UseFormReturnType<LaunchForm>;
  show: (lost: LostGroups) => void;
}

function Probe({ error, form, show }: Props) {
  show(useLostChoices(error, form, ""));
  return null;
}

/** The choice after this error: the resource groups of the form, and what was lost. */
function after(error: Problem, group: string, ...alternative_groups: string[]) {
  let lost: LostGroups | undefined;
  const values: Record<string, unknown> = { group, alternative_groups, project: "" };
  const setFieldValue = (field: string, value: unknown) => {
    values[field] = value;
  };
  const form = { values, setFieldValue } as unknown as UseFormReturnType<LaunchForm>;
  const show = (shown: LostGroups) => {
    lost = shown;
  };
  const root = createRoot(document.createElement("div"));
  act(() => root.render(<Probe error={error} form={form} show={show} />));
  act(() => root.unmount());
  return { group: values.group, others: values.alternative_groups, lost };
}

test("only the alternative groups that the user cannot use are removed, and named", () => {
  const error = refused("alternative_groups", ["default", "A100", "cloud"]);
  expect(after(error, "default", "a100", "spare", "Cloud")).toEqual({
    group: "default",
    others: ["a100", "Cloud"],
    lost: { preferred: "", others: ["spare"] },
  });
});

test("a preferred group that the user cannot use is replaced, and leaves the others", () => {
  expect(after(refused("group", ["default", "a100"]), "spare", "a100")).toEqual({
    group: "",
    others: ["a100"],
    lost: { preferred: "spare", others: [] },
  });
});
