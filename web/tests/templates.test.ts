// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to parameters
import { describe, expect, it } from "vitest";
import type { Parameter, SessionCreate } from "@/api/types";
import { requestedRows } from "@/features/sessions/launcher/dependencies";
import { mountRows } from "@/features/sessions/launcher/mounts";
import { formOf, toRequest } from "@/features/sessions/launcher/request";
import { parameterRow, toParameter } from "@/features/templates/parameter-rows";
import {
  escapeReferences,
  givenValues,
  initialValues,
  literal,
  startCommand,
  valueFault,
} from "@/features/templates/values";
import { sessionsSearch, templatesSearch } from "@/routing/search";

const EPOCHS: Parameter = { name: "epochs", type: "integer", min: 1, max: 9 };
const TAG: Parameter = { name: "tag", default: "red" };
const DEBUG: Parameter = { name: "debug", type: "boolean", default: false };

describe("values of parameters", () => {
  it("begin with the defaults, and only the others are sent", () => {
    const all = [EPOCHS, TAG, DEBUG];
    const initial = initialValues(all);
    expect(initial).toEqual({ epochs: "", tag: "red", debug: "false" });
    expect(givenValues(all, initial)).toEqual({});
    expect(givenValues(all, { epochs: "3", tag: "", debug: "true" })).toEqual({
      epochs: "3",
      debug: "true",
    });
    expect(givenValues([{ ...TAG, type: "text" }], { tag: "" })).toEqual({ tag: "" });
  });

  it("are checked by type and limits", () => {
    const fault = (text: string, one: Parameter = EPOCHS) => valueFault(one, text);
    expect(["", "x", "1.5", "0", "10", "3"].map((text) => fault(text))).toEqual([
      "missing",
      "integer",
      "integer",
      "least",
      "most",
      null,
    ]);
    expect(fault("", TAG)).toBeNull();
    expect(fault("x", { name: "rate", type: "number" })).toBe("number");
  });

  it("are in the command of the start", () => {
    const template = { id: "t", name: "training", parameters: [EPOCHS, TAG] };
    expect(startCommand(template, { epochs: "3", tag: "a b" }, "mine")).toBe(
      "carrel template start training -p epochs=3 -p 'tag=a b' --name mine",
    );
  });
});

describe("a definition", () => {
  it("of a request takes its texts literally", () => {
    expect(escapeReferences("${A} $${B} $HOME")).toBe("$${A} $$$${B} $HOME");
    expect(literal({ command: ["echo", "${A}"], slots: { cpu: 1 } })).toEqual({
      command: ["echo", "$${A}"],
      slots: { cpu: 1 },
    });
  });
});

describe("a row of a parameter", () => {
  it("holds every field of the parameter", () => {
    const all: Parameter[] = [
      { name: "a", type: "integer", description: "How many", default: 3, min: 1, max: 9 },
      { name: "b", type: "choice", choices: ["x", "y"], default: "x" },
      { name: "c", type: "text" },
      { name: "d", type: "boolean", default: "true" },
    ];
    expect(all.map((one) => toParameter(parameterRow(one)))).toEqual(all);
  });
});

describe("the launcher", () => {
  it("begins with the request of a template", () => {
    const request: SessionCreate = {
      image: "starter",
      kind: "batch",
      command: ["/bin/sh", "-c", "train"],
      slots: { cpu: 100, mem: 2 ** 26 },
      env: { A: "b" },
      project: "vision",
      mounts: [{ folder: "data", read_only: true }],
    };
    const rows = mountRows(request.mounts ?? [], [{ id: "f1", name: "data" }]);
    expect(toRequest(formOf(request, rows, []))).toEqual({
      ...request,
      mounts: [{ folder: "f1", read_only: true }],
    });
  });

  it("keeps the array, the roles and the dependencies of a template", () => {
    const request = {
      image: "starter",
      kind: "batch" as const,
      command: ["/bin/sh", "-c", "train"],
      slots: { cpu: 100, mem: 2 ** 26 },
      array: { first: 1, last: 9, max_parallel: 2 },
      roles: [{ name: "worker", count: 2, shm_bytes: 2 ** 28, env: { A: "b" } }],
      after: [{ session: "k3f", condition: "ended" as const }],
    };
    expect(toRequest(formOf(request, [], requestedRows(request)))).toEqual(request);
  });

  it("has the template and the values in its address", () => {
    const { template, values } = sessionsSearch({ template: "t1", values: { a: "1", b: 2, c: null } });
    expect([template, values]).toEqual(["t1", { a: "1", b: "2" }]);
    expect(templatesSearch({ owner: "nobody", form: "new" })).toMatchObject({
      owner: undefined,
      form: "new",
    });
  });
});
